// The virtual clock of the simulation: the order of events, and steps of time without events.
#include "simulation/clock/event_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace plait::simulation {
namespace {

class Log final : public Timer {
 public:
  void fire(std::uint64_t token) override { tokens.push_back(token); }
  std::vector<std::uint64_t> tokens;
};

TEST(EventQueue, RunsEventsByTimeThenInOrderOfScheduling) {
  EventQueue clock;
  Log log;
  clock.schedule(20, log, 1);
  clock.schedule(10, log, 2);
  clock.schedule(10, log, 3);
  clock.schedule(0, log, 4);
  std::vector<Time> times;
  while (!clock.empty()) {
    clock.run_next();
    times.push_back(clock.now());
  }
  EXPECT_EQ(log.tokens, (std::vector<std::uint64_t>{4, 2, 3, 1}));
  EXPECT_EQ(times, (std::vector<Time>{0, 10, 10, 20}));
}

TEST(EventQueue, AdvancesOnlyIfNoEventIsDueUntilThen) {
  EventQueue clock;
  Log log;
  EXPECT_TRUE(clock.try_advance(5));
  EXPECT_EQ(clock.now(), 5);
  clock.schedule(10, log);
  EXPECT_FALSE(clock.try_advance(10));  // an event is due at this time
  EXPECT_TRUE(clock.try_advance(9));
  clock.schedule(3, log, 7);  // a time in the past: runs now
  clock.run_next();
  EXPECT_EQ(clock.now(), 9);
  EXPECT_EQ(log.tokens, (std::vector<std::uint64_t>{7}));
}

}  // namespace
}  // namespace plait::simulation
