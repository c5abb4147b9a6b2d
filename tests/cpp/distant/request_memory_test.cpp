// Accesses that are under way end though memory fails, on whichever thread: with the bytes or with an error, and
// close() does not wait for ever.
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
using plait::SharedFilePlace;
using plait::distant::OutstandingRequests;
using plait::transport::CallFailure;
using plait_test::Bytes;
using plait_test::make_bytes;
using plait_test::Watchdog;

using Request = DistantRequest::Impl;

constexpr std::int64_t kInterval = oracle::kSanitized ? 5 : 1;
constexpr std::int64_t kMaxAllocations = 3000;

std::shared_ptr<Request> make_request(const std::shared_ptr<OutstandingRequests>& outstanding) {
  return plait::base::make_owned<Request>(outstanding, std::weak_ptr<plait::transport::ActiveMessages>());
}

/// The error of a request, which has to end.
Error catch_error(Request& request) {
  try {
    request.wait();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kArgument, "no error"};
}

TEST(RequestWithoutMemory, OneOfWhichAPieceCannotBeBegunEnds) {
  for (const std::int64_t refused : {0, 1, 7, 9}) {
    const Watchdog watchdog("piece " + std::to_string(refused));
    const auto outstanding = std::make_shared<OutstandingRequests>();
    const auto request = make_request(outstanding);
    request->start(10, 1, 3, [&](std::int64_t at, std::int64_t, const Request::Completion& done) {
      if (at == refused) throw std::bad_alloc();
      done(nullptr);
    });
    const Error error = catch_error(*request);
    EXPECT_EQ(error.system_code(), ENOMEM) << error.what();
    outstanding->wait_for_all();
  }
}

TEST(RequestWithoutMemory, PiecesThatAreUnderWayAreWaitedFor) {
  const Watchdog watchdog("pieces under way");
  const auto outstanding = std::make_shared<OutstandingRequests>();
  const auto request = make_request(outstanding);
  std::vector<Request::Completion> under_way;
  request->start(10, 1, 4, [&](std::int64_t at, std::int64_t, Request::Completion done) {
    if (at == 2) throw std::bad_alloc();
    under_way.push_back(std::move(done));
  });
  ASSERT_EQ(under_way.size(), 2U);
  EXPECT_FALSE(request->done());
  under_way[0](nullptr);
  EXPECT_FALSE(request->done());
  // Its error is that of the first piece that fails.
  const CallFailure failure{ErrorKind::kSystem, EIO, "the disk has failed"};
  under_way[1](&failure);
  EXPECT_TRUE(request->done());
  EXPECT_EQ(catch_error(*request).system_code(), EIO);
  outstanding->wait_for_all();
}

TEST(RequestWithoutMemory, WhyAPieceFailedIsTold) {
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

/// What an access has come to.
struct Outcome {
  bool right = true;
  std::string heard;
};

/// Carries an access out, which returns whether it has brought what it should.  Takes no memory itself.
void carry_out(const std::function<bool()>& access, Outcome& outcome) {
  try {
    outcome.right = access();
  } catch (const Error& error) {
    outcome.heard = error.what();
  } catch (const std::bad_alloc&) {
    outcome.heard = "out of memory";
  }
}

/// An access of which the n-th allocation of any thread fails, and the same again.  `usual` is the error that it has in
/// any case.  Returns whether it makes as many.
bool try_at(std::int64_t n, const std::string& what, const std::function<bool()>& access, const char* usual = nullptr) {
  const std::string shown = what + ", allocation " + std::to_string(n);
  const Watchdog watchdog(shown);
  Outcome outcome;
  outcome.heard.reserve(4096);
  allocations::fail_anywhere_at(n);
  carry_out(access, outcome);
  const bool reached = allocations::failed_anywhere();
  const auto has = [&](const char* part) { return outcome.heard.find(part) != std::string::npos; };
  EXPECT_TRUE(outcome.right) << shown;
  EXPECT_TRUE(outcome.heard.empty() ? usual == nullptr : has("out of memory") || (usual != nullptr && has(usual)))
      << shown << ": " << outcome.heard;
  Outcome again;
  carry_out(access, again);
  EXPECT_TRUE(again.right && (usual == nullptr ? again.heard.empty() : again.heard.find(usual) != std::string::npos))
      << shown << ", then: " << again.heard;
  return reached;
}

void try_all(const std::string& what, const std::function<bool()>& access, const char* usual = nullptr) {
  std::int64_t n = 1;
  while (n < kMaxAllocations && try_at(n, what, access, usual)) n += kInterval;
  EXPECT_GT(n, 1) << what;
  EXPECT_LT(n, kMaxAllocations) << what;
}

void barrier(const Comm& comm) {
  std::int64_t nothing = 0;
  plait::core::get_transport(comm).reduce_min({&nothing, 1});
}

/// Several pieces, by messages and on the spot, and not all that is read is copied from the page cache at once.
constexpr std::int64_t kBytes = (std::int64_t{5} << 18) + 7;

/// One rank has accesses under way while the others serve them.
class RequestsWithoutMemory : public plait_test::DistantTest {
 protected:
  static constexpr std::int64_t kUnit = std::int64_t{64} << 10;
  void on_nodes(const std::function<void(const Comm&)>& body) const {
    for (const int node : {1, 2, 3}) on_ranks(3, node, body);
  }
  SharedFileOptions striped(std::int64_t unit) const {
    SharedFileOptions options;
    options.path = path("data");
    options.unit = unit;
    options.place = SharedFilePlace::kStriped;
    return options;
  }
};

TEST_F(RequestsWithoutMemory, OfDistantFilesEnd) {
  on_nodes([&](const Comm& comm) {
    DistantFile file = DistantFile::open(own(comm.rank()), comm);
    if (comm.rank() == 0) {
      const Bytes written = make_bytes(kBytes, 1);
      Bytes got(kBytes);
      try_all("write", [&] {
        file.start_write(0, written.data(), kBytes, 1).wait();
        return true;
      });
      try_all("read", [&] {
        file.start_read(0, got.data(), kBytes, 1).wait();
        return got == written;
      });
      try_all(
          "read past the end",
          [&] {
            file.start_read(1, got.data(), kBytes, 1).wait();
            return false;
          },
          "the file ends at");
    }
    barrier(comm);
    const Watchdog watchdog("close");
    file.close();
  });
}

TEST_F(RequestsWithoutMemory, OfSharedFilesEnd) {
  on_nodes([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(kUnit), comm);
    if (comm.rank() == 0) {
      const Bytes written = make_bytes(kBytes, 2);
      Bytes got(kBytes);
      try_all("write", [&] {
        file.start_write(0, written.data(), kBytes).wait();
        return true;
      });
      try_all("read", [&] {
        file.start_read(0, got.data(), kBytes).wait();
        return got == written;
      });
      try_all(
          "read past the end",
          [&] {
            file.start_read(1, got.data(), kBytes).wait();
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

/// Another rank makes the file longer each time, so that the component that ends earlier is found to have zeros there.
TEST_F(RequestsWithoutMemory, OfZerosEnd) {
  constexpr std::int64_t kSmall = 4096;
  on_nodes([&](const Comm& comm) {
    SharedFile file = SharedFile::open(striped(kSmall), comm);
    Bytes got(3 * kSmall);
    const Bytes zeros(got.size());
    std::int64_t reached = 1;
    std::int64_t n = 1;
    for (; reached == 1 && n < 500; n += kInterval) {
      const std::byte last{1};
      if (comm.rank() == 1) file.write(12 * kSmall * n, &last, 1);
      barrier(comm);
      const auto read = [&] {
        file.start_read(12 * kSmall * (n - 1) + 2 * kSmall, got.data(), 3 * kSmall).wait();
        return got == zeros;
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
