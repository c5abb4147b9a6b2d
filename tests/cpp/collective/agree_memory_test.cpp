// Workers that are out of memory still get the errors of other workers. They get them as an Error, because a worker
// enters another agreement after any other exception.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "collective/agree.hpp"
#include "plait/error.hpp"
#include "transport/abandoned_numbers.hpp"
#include "transport/thread/team.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::transport::Transport;
using plait::transport::thread::run_team;

constexpr int kWorkers = 3;

/// Runs `body` on each worker. All allocations of worker 1 fail from its n-th one on. Returns the error of each worker.
template <typename Body>
std::vector<std::string> errors_without_memory(std::int64_t n, Body&& body) {
  std::vector<std::string> errors(kWorkers);
  run_team(kWorkers, [&](Transport& transport) {
    std::string& error_text = errors[static_cast<std::size_t>(transport.rank())];
    error_text.reserve(4096);
    if (transport.rank() == 1) allocations::fail_from(n);
    try {
      body(transport);
    } catch (const Error& error) {
      error_text = error.what();
    } catch (const std::exception& error) {
      error_text = "no Error: ";
      error_text += error.what();
    }
    allocations::failed();
    std::array<std::int64_t, 1> lowest{transport.rank()};
    transport.reduce_min(lowest);  // ends only if no rank is in another agreement
  });
  return errors;
}

/// Expects an error on all workers; worker 1 may be out of memory instead.
void expect_errors(const std::vector<std::string>& errors, const std::string& expected, std::int64_t n) {
  EXPECT_EQ(errors[0], expected) << n;
  EXPECT_EQ(errors[2], expected) << n;
  EXPECT_TRUE(errors[1] == expected || errors[1].starts_with("out of memory")) << n << ": " << errors[1];
}

TEST(AgreeWithoutMemory, ReportsErrorsOfOtherWorkers) {
  const std::string what = "a disk of rank 0 has failed, in more words than fit where no memory is needed";
  for (std::int64_t n = 1; n < 20; ++n)
    expect_errors(errors_without_memory(n,
                                        [&](Transport& transport) {
                                          std::exception_ptr local_error;
                                          if (transport.rank() == 0)
                                            local_error = std::make_exception_ptr(Error(ErrorKind::kSystem, what, 5));
                                          plait::collective::agree(transport, local_error);
                                        }),
                  what + " (on rank 0)", n);
}

TEST(AgreeWithoutMemory, ReportsDifferentCalls) {
  for (std::int64_t n = 1; n < 20; ++n)
    expect_errors(errors_without_memory(n,
                                        [&](Transport& transport) {
                                          const std::string call = transport.rank() == 0 ? "read" : "write";
                                          plait::collective::agree(transport, call, nullptr);
                                        }),
                  "the ranks of a collective call differ: rank 0 calls read, rank 1 calls write; make the same call on "
                  "every rank",
                  n);
}

TEST(AgreeWithoutMemory, RecordsAbandonedNumbers) {
  const std::string what = "a file was given up, which is reported in more words than fit without memory";
  constexpr std::int64_t kNumber = 7;
  const std::vector<std::string> errors = errors_without_memory(1, [&](Transport& transport) {
    std::exception_ptr local_error;
    if (transport.rank() == 2) local_error = std::make_exception_ptr(Error(ErrorKind::kSystem, what));
    try {
      if (transport.rank() == 2) plait::collective::give_up(transport, kNumber, local_error);
      plait::collective::agree(transport, local_error);
    } catch (const Error&) {
      EXPECT_TRUE(transport.abandoned_numbers().contains(kNumber));
      throw;
    }
  });
  expect_errors(errors, what + " (on rank 2)", 1);
}

}  // namespace
