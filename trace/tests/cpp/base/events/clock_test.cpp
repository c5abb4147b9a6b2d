// The clock of events: equal to CLOCK_MONOTONIC in every thread, and monotonic within a thread.
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
static std::atomic<std::int64_t> handler_readings;
static void on_alarm(int) { handler_readings += plait_events_now() > 0 ? 1 : 0; }
}

std::int64_t system_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

constexpr std::int64_t kTolerance = 20'000;  // ns; the clocks usually differ by a few tens

/// Reads the event clock for `duration` ns, each time between two readings of the system clock.
/// returns  how often its value was not between the two readings, or was less than the previous value
int count_wrong_readings(std::int64_t duration) {
  int count = 0;
  std::int64_t last = 0;
  for (std::int64_t begin = system_time(), before = begin; before < begin + duration;) {
    const std::int64_t time = plait_events_now();
    const std::int64_t after = system_time();
    if (time < before - kTolerance || time > after + kTolerance || time < last) ++count;
    last = time;
    before = after;
  }
  return count;
}

class TraceClock : public TraceTest {};

TEST_F(TraceClock, EqualsTheSystemClockInEveryThread) {
  ASSERT_EQ(begin(), 0);  // begins a trace, and selects the clock of this machine
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { wrong += count_wrong_readings(250'000'000); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  timespec pause{0, 50'000'000};
  nanosleep(&pause, nullptr);
  EXPECT_EQ(count_wrong_readings(1'000'000), 0);  // after a long time without a reading
  plait_events_end();
}

TEST_F(TraceClock, IsRightIfSignalHandlersReadItToo) {
  ASSERT_EQ(begin(), 0);  // begins a trace, and selects the clock of this machine
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 500}, {0, 500}};
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  EXPECT_EQ(count_wrong_readings(250'000'000), 0);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(handler_readings, 0);
  plait_events_end();
}

}  // namespace
