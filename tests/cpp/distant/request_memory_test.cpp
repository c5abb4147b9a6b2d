// If an allocation fails on any thread, pending accesses of distant and shared files still end, with the right bytes or
// with an error, and close() does not wait for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "core/comm/internals.hpp"
#include "distant/request.hpp"
#include "distant_case.hpp"
#include "oracle.hpp"
#include "plait/distant.hpp"
#include "plait/shared_file.hpp"
#include "watchdog.hpp"

namespace {

using plait::Comm;
using plait::DistantFile;
using plait::DistantRequest;
using plait::Error;
using plait::ErrorKind;
using plait::SharedFile;
using plait::SharedFileOptions;
using plait::distant::OutstandingRequests;
using plait::transport::CallFailure;
using plait_test::Bytes;
using plait_test::make_bytes;
using plait_test::Watchdog;

using Request = DistantRequest::Impl;

constexpr std::int64_t kInterval = oracle::kSanitized ? 5 : 1;  // tests let every kInterval-th allocation fail
constexpr std::int64_t kMaxAllocations = 3000;

std::shared_ptr<Request> make_request(const std::shared_ptr<OutstandingRequests>& outstanding) {
  return plait::base::make_owned<Request>(outstanding, std::weak_ptr<plait::transport::ActiveMessages>());
}

/// Waits for a request and returns its error.
Error catch_error(Request& request) {
  try {
    request.wait();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kArgument, "no error"};
}

TEST(RequestWithoutMemory, EndsIfAPieceCannotBeStarted) {
  for (const std::int64_t failing : {0, 1, 7, 9}) {
    const Watchdog watchdog("piece " + std::to_string(failing));
    const auto outstanding = std::make_shared<OutstandingRequests>();
    const auto request = make_request(outstanding);
    request->start(10, 1, 3, [&](std::int64_t offset, std::int64_t, const Request::Completion& done) {
      if (offset == failing) throw std::bad_alloc();
      done(nullptr);
    });
    const Error error = catch_error(*request);
    EXPECT_EQ(error.system_code(), ENOMEM) << error.what();
    outstanding->wait_for_all();
  }
}

TEST(RequestWithoutMemory, WaitsForPendingPieces) {
  const Watchdog watchdog("pending pieces");
  const auto outstanding = std::make_shared<OutstandingRequests>();
  const auto request = make_request(outstanding);
  std::vector<Request::Completion> pending;
  request->start(10, 1, 4, [&](std::int64_t offset, std::int64_t, Request::Completion done) {
    if (offset == 2) throw std::bad_alloc();
    pending.push_back(std::move(done));
  });
  ASSERT_EQ(pending.size(), 2U);
  EXPECT_FALSE(request->done());
  pending[0](nullptr);
  EXPECT_FALSE(request->done());
  // The request has the error of the first piece that fails.
  const CallFailure failure{ErrorKind::kSystem, EIO, "the disk has failed"};
  pending[1](&failure);
  EXPECT_TRUE(request->done());
  EXPECT_EQ(catch_error(*request).system_code(), EIO);
  outstanding->wait_for_all();
}

TEST(RequestWithoutMemory, ReportsTheReasonOfAFailedPiece) {
  const std::string why = "the disk of a rank has failed, in more words than fit where no memory is needed";
  for (std::int64_t n = 1; n < 5; ++n) {
    const Watchdog watchdog("allocation " + std::to_string(n));
    const auto outstanding = std::make_shared<OutstandingRequests>();
    const auto request = make_request(outstanding);
    std::thread disk;
    request->start(1, 1, 1, [&](std::int64_t, std::int64_t, Request::Completion done) {
      disk = std::thread([&why, n, done = std::move(done)] {
        const CallFailure failure{ErrorKind::kSystem, EIO, why};
        allocations::fail_at(n);
        done(&failure);
        allocations::failed();
      });
    });
    const Error error = catch_error(*request);
    disk.join();
    EXPECT_EQ(error.what(), why);
    outstanding->wait_for_all();
  }
}

/// The outcome of an access.
struct Outcome {
  bool is_right = true;
  std::string error_text;
};

/// Performs an access, which returns true if its result is right.  This function allocates no memory itself.
void run_access(const std::function<bool()>& access, Outcome& outcome) {
  try {
    outcome.is_right = access();
  } catch (const Error& error) {
    outcome.error_text = error.what();
  } catch (const std::bad_alloc&) {
    outcome.error_text = "out of memory";
  }
}

/// Makes the n-th allocation (counted over all threads) of an access fail, and then repeats the access with memory.
/// `expected_error` is the error that the access has even with memory.  Returns true if the access makes at least n
/// allocations.
bool try_at(std::int64_t n, const std::string& what, const std::function<bool()>& access,
            const char* expected_error = nullptr) {
  const std::string label = what + ", allocation " + std::to_string(n);
  const Watchdog watchdog(label);
  Outcome outcome;
  outcome.error_text.reserve(4096);
  allocations::fail_anywhere_at(n);
  run_access(access, outcome);
  const bool reached = allocations::failed_anywhere();
  const auto has = [&](const char* part) { return outcome.error_text.find(part) != std::string::npos; };
  EXPECT_TRUE(outcome.is_right) << label;
  EXPECT_TRUE(outcome.error_text.empty() ? expected_error == nullptr
                                         : has("out of memory") || (expected_error != nullptr && has(expected_error)))
      << label << ": " << outcome.error_text;
  Outcome again;
  run_access(access, again);
  EXPECT_TRUE(again.is_right &&
              (expected_error == nullptr ? again.error_text.empty()
                                         : again.error_text.find(expected_error) != std::string::npos))
      << label << ", then: " << again.error_text;
  return reached;
}

/// Repeats an access, and makes a later allocation fail each time, until the access makes fewer allocations.
void try_all(const std::string& what, const std::function<bool()>& access, const char* expected_error = nullptr) {
  std::int64_t n = 1;
  while (n < kMaxAllocations && try_at(n, what, access, expected_error)) n += kInterval;
  EXPECT_GT(n, 1) << what;
  EXPECT_LT(n, kMaxAllocations) << what;
}

void barrier(const Comm& comm) {
  std::int64_t unused = 0;
  plait::core::get_transport(comm).reduce_min({&unused, 1});
}

/// A size that needs several pieces, both by messages and by direct access, and several copies from the page cache.
constexpr std::int64_t kBytes = (std::int64_t{5} << 18) + 7;

/// One rank makes accesses while the other ranks serve them.
class RequestsWithoutMemory : public plait_test::DistantTest {
 protected:
  static constexpr std::int64_t kUnit = std::int64_t{64} << 10;
  void on_nodes(const std::function<void(const Comm&)>& body) const {
    for (const int ranks_per_node : {1, 2, 3}) on_ranks(3, ranks_per_node, body);
  }
  SharedFileOptions striped(std::int64_t unit) const {
    SharedFileOptions options;
    options.path = path("data");
    options.unit = unit;
    options.striped = true;
    return options;
  }
};

TEST_F(RequestsWithoutMemory, RequestsOfDistantFilesEnd) {
  on_nodes([&](const Comm& comm) {
    DistantFile file = DistantFile::open(disk_options(comm.rank()), comm);
    if (comm.rank() == 0) {
      const Bytes written = make_bytes(kBytes, 1);
      Bytes received(kBytes);
      try_all("write", [&] {
        file.start_write(0, written.data(), kBytes, 1).wait();
        return true;
      });
      try_all("read", [&] {
        file.start_read(0, received.data(), kBytes, 1).wait();
        return received == written;
      });
      try_all(
          "read past the end",
          [&] {
            file.start_read(1, received.data(), kBytes, 1).wait();
            return false;
          },
          "the file ends at");
    }
    barrier(comm);
    const Watchdog watchdog("close");
    file.close();
  });
}

TEST_F(RequestsWithoutMemory, RequestsOfSharedFilesEnd) {
  on_nodes([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(kUnit), comm);
    if (comm.rank() == 0) {
      const Bytes written = make_bytes(kBytes, 2);
      Bytes received(kBytes);
      try_all("write", [&] {
        file.start_write(0, written.data(), kBytes).wait();
        return true;
      });
      try_all("read", [&] {
        file.start_read(0, received.data(), kBytes).wait();
        return received == written;
      });
      try_all(
          "read past the end",
          [&] {
            file.start_read(1, received.data(), kBytes).wait();
            return false;
          },
          "it ends at");
      try_all("size", [&] { return file.size() == kBytes; });
      try_all("sync", [&] {
        file.sync();
        return true;
      });
    }
    barrier(comm);
    const Watchdog watchdog("close");
    file.close();
  });
}

/// Another rank extends the file each time, so that the reads get zeros from components that end earlier.
TEST_F(RequestsWithoutMemory, ReadsOfZerosEnd) {
  constexpr std::int64_t kSmall = 4096;
  on_nodes([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(kSmall), comm);
    Bytes received(3 * kSmall);
    const Bytes zeros(received.size());
    std::int64_t reached = 1;
    std::int64_t n = 1;
    for (; reached == 1 && n < 500; n += kInterval) {
      const std::byte last{1};
      if (comm.rank() == 1) file.write(12 * kSmall * n, &last, 1);
      barrier(comm);
      const auto read = [&] {
        file.start_read(12 * kSmall * (n - 1) + 2 * kSmall, received.data(), 3 * kSmall).wait();
        return received == zeros;
      };
      if (comm.rank() == 0) reached = try_at(n, "read zeros", read) ? 1 : 0;
      plait::core::get_transport(comm).reduce_min({&reached, 1});
    }
    EXPECT_EQ(reached, 0);
    const Watchdog watchdog("close");
    file.close();
  });
}

}  // namespace
