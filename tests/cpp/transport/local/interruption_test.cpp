// A rank that is interrupted while it waits for the others of its job takes part in nothing any more, and they
// hear of it.
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

thread_local bool wanted = false;

class Interruption : public testing::Test {
 protected:
  Interruption() {
    plait::base::set_interruption_check([] { return wanted; });
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
  /// What ranks 0 and 1 are told where rank 0 is interrupted in `call`, and by the agreement after it.
  static std::vector<std::vector<Error>> told(const std::function<void(Transport&)>& call) {
    std::vector<std::vector<Error>> errors(2);
    job_case::run_job(2, [&](Transport& transport) {
      agree(transport);
      wanted = transport.rank() == 0;
      auto& own = errors[static_cast<std::size_t>(transport.rank())];
      if (wanted) {
        own.push_back(catch_error([&] { call(transport); }));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        own.push_back(catch_error([&] {
          agree(transport);
          agree(transport);
        }));
      }
      own.push_back(catch_error([&] { agree(transport); }));
    });
    return errors;
  }
  static void check(const std::vector<std::vector<Error>>& errors) {
    const std::string words = "rank 0 was interrupted in a collective call; nothing more can be done together";
    for (const auto& own : errors)
      for (const Error& one : own) EXPECT_EQ(one.what(), words);
    EXPECT_EQ(errors[0][0].system_code(), EINTR);
    EXPECT_EQ(errors[1][0].system_code(), EOWNERDEAD);
  }
};

TEST_F(Interruption, EndsAnAgreement) { check(told(agree)); }

TEST_F(Interruption, EndsAWaitForAMessage) {
  check(told([](Transport& transport) {
    std::array<std::byte, 8> bytes{};
    transport.receive(1, bytes)->complete();
  }));
}

}  // namespace
