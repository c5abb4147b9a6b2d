// The clock of events: as CLOCK_MONOTONIC says, in every thread, and never backwards in one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "events_case.hpp"

namespace {

using plait_test::binary::TraceTest;

extern "C" {
static std::atomic<std::int64_t> handled;
static void on_alarm(int) { handled += plait_events_now() > 0 ? 1 : 0; }
}

std::int64_t asked() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

constexpr std::int64_t kNear = 20'000;  // ns; some ten are usual

/// Reads the clock between two readings of the system's for a while.  returns  how often it was not between them.
int wrong(std::int64_t during) {
  int found = 0;
  std::int64_t last = 0;
  for (std::int64_t begin = asked(), before = begin; before < begin + during;) {
    const std::int64_t time = plait_events_now();
    const std::int64_t after = asked();
    if (time < before - kNear || time > after + kNear || time < last) ++found;
    last = time;
    before = after;
  }
  return found;
}

class TraceClock : public TraceTest {};

TEST_F(TraceClock, IsThatOfTheSystemInEveryThread) {
  ASSERT_EQ(begin(), 0);  // which looks at what the machine has
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { found += wrong(250'000'000); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 0);
  timespec pause{0, 50'000'000};
  nanosleep(&pause, nullptr);
  EXPECT_EQ(wrong(1'000'000), 0);  // after nobody has asked for long
  plait_events_end();
}

TEST_F(TraceClock, IsRightAroundSignalHandlersThatAskToo) {
  ASSERT_EQ(begin(), 0);  // which looks at what the machine has
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 500}, {0, 500}};
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  EXPECT_EQ(wrong(250'000'000), 0);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(handled, 0);
  plait_events_end();
}

}  // namespace
