// Texts and numbers of the first worker reach all workers, and errors replace them.
#include "collective/broadcast.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "collective/agree.hpp"
#include "plait/error.hpp"
#include "transport/thread/team.hpp"
#include "transport/transport.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using namespace plait::collective;
using plait::transport::Transport;
using plait::transport::thread::run_team;

TEST(Broadcast, SendsATextOfAnyLength) {
  run_team(3, [](Transport& transport) {
    for (const int length : {0, 1, 503, 504, 505, 8695, 8696, 8697, 100'000}) {
      std::string text(static_cast<std::size_t>(length), ' ');
      for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
      const std::string received = broadcast_text(transport, transport.rank() == 0 ? text : "of another rank");
      EXPECT_EQ(received, text) << length;
    }
  });
}

TEST(Broadcast, AnErrorOfTheFirstWorkerReplacesTheText) {
  for (const int size : {1, 2, 3, 6})
    run_team(size, [](Transport& transport) {
      const bool is_first = transport.rank() == 0;
      for (int round = 0; round < 5; ++round) {
        const bool fails = round % 2 == 1;
        const std::exception_ptr local_error = caught([&] {
          // broadcast_result() reports only the error of the first worker; the next agreement reports the others.
          if (fails || !is_first) throw Error(ErrorKind::kSystem, is_first ? "no file" : "another error", 2);
        });
        const std::string text(static_cast<std::size_t>(400 * round), static_cast<char>('a' + round));
        std::string error;
        std::string actual;
        try {
          actual = broadcast_result(transport, is_first ? text : "of another worker", local_error);
        } catch (const Error& thrown) {
          error = thrown.what();
        }
        EXPECT_EQ(error.substr(0, 7), fails ? "no file" : "") << round;
        EXPECT_EQ(actual, fails ? "" : text) << round;
      }
    });
}

TEST(Broadcast, SendsNumbersOfTheFirstWorker) {
  run_team(3, [](Transport& transport) {
    std::array<std::int64_t, 2> numbers{-5, std::int64_t{1} << 60};
    if (transport.rank() > 0) numbers = {-7, 3};
    broadcast_numbers(transport, nullptr, numbers);
    EXPECT_EQ(numbers[0], -5);
    EXPECT_EQ(numbers[1], std::int64_t{1} << 60);
  });
}

TEST(Broadcast, AnErrorOfAnyWorkerReplacesTheNumbers) {
  for (const int size : {1, 3})
    for (const int failing : {0, size - 1})
      run_team(size, [=](Transport& transport) {
        const std::exception_ptr local_error = caught([&] {
          if (transport.rank() == failing) throw Error(ErrorKind::kSystem, "no step", 5);
        });
        std::array<std::int64_t, 2> numbers{};
        try {
          broadcast_numbers(transport, local_error, numbers);
          ADD_FAILURE() << "rank " << transport.rank() << " got no error";
        } catch (const Error& error) {
          EXPECT_EQ(error.system_code(), 5);
          EXPECT_NE(std::string(error.what()).find("no step"), std::string::npos);
        }
      });
}

/// A worker that fails between two agreements enters the next one with agree(), while that agreement is a broadcast of
/// numbers on the other workers.
TEST(Broadcast, NumbersAndErrorsShareOneAgreement) {
  for (const int failing : {0, 1, 2})
    run_team(3, [=](Transport& transport) {
      try {
        if (transport.rank() == failing) {
          agree(transport, std::make_exception_ptr(std::bad_alloc()));
        } else {
          std::array<std::int64_t, 2> numbers{0, 3};
          broadcast_numbers(transport, nullptr, numbers);
        }
        ADD_FAILURE() << "rank " << transport.rank() << " got no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.system_code(), ENOMEM);
        EXPECT_NE(std::string(error.what()).find("(on rank " + std::to_string(failing) + ")"), std::string::npos);
      }
    });
}

}  // namespace
