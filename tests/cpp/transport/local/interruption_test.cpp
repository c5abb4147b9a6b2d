// A rank that is interrupted while it waits for another rank of its job fails all its later calls, and the other ranks
// get an error.
#include "base/wait/interruption.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "job_case.hpp"
#include "plait/error.hpp"
#include "transport/transport.hpp"

namespace {

using plait::Error;
using plait::transport::Transport;

thread_local bool is_interrupted = false;

class Interruption : public testing::Test {
 protected:
  Interruption() {
    plait::base::set_interruption_check([] { return is_interrupted; });
  }
  ~Interruption() override { plait::base::set_interruption_check(nullptr); }

  static Error catch_error(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error;
    }
    return {plait::ErrorKind::kArgument, "no error"};
  }
  static void agree(Transport& transport) {
    std::array<std::int64_t, 1> values{1};
    transport.reduce_min(values);
  }
  /// Interrupts rank 0 in `call`. Returns the errors of ranks 0 and 1 in this call and in the agreement after it.
  static std::vector<std::vector<Error>> collect_errors(const std::function<void(Transport&)>& call) {
    std::vector<std::vector<Error>> errors(2);
    job_case::run_job(2, [&](Transport& transport) {
      agree(transport);
      is_interrupted = transport.rank() == 0;
      auto& rank_errors = errors[static_cast<std::size_t>(transport.rank())];
      if (is_interrupted) {
        rank_errors.push_back(catch_error([&] { call(transport); }));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(700));  // rank 0 is interrupted meanwhile
        rank_errors.push_back(catch_error([&] {
          agree(transport);
          agree(transport);
        }));
      }
      rank_errors.push_back(catch_error([&] { agree(transport); }));
    });
    return errors;
  }
  /// Expects that all calls of both ranks have failed because of the interruption of rank 0.
  static void check(const std::vector<std::vector<Error>>& errors) {
    const std::string expected = "rank 0 was interrupted in a collective call; nothing more can be done together";
    for (const auto& rank_errors : errors)
      for (const Error& rank_error : rank_errors) EXPECT_EQ(rank_error.what(), expected);
    EXPECT_EQ(errors[0][0].system_code(), EINTR);
    EXPECT_EQ(errors[1][0].system_code(), EOWNERDEAD);
  }
};

TEST_F(Interruption, EndsAnAgreement) { check(collect_errors(agree)); }

TEST_F(Interruption, EndsAWaitForAMessage) {
  check(collect_errors([](Transport& transport) {
    std::array<std::byte, 8> bytes{};
    transport.receive(1, bytes)->complete();
  }));
}

}  // namespace
