// Which way is taken, by the times that accesses took.
#include "plan/access/strategy_choice.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace {

using plait::plan::StrategyChoice;
using Seconds = std::vector<double>;

/// Makes accesses of which each way takes so long; how often each was taken.
std::map<std::size_t, int> make_accesses(StrategyChoice& choice, int count, const Seconds& seconds) {
  std::map<std::size_t, int> taken;
  for (int i = 0; i < count; ++i) {
    const std::size_t next = choice.next();
    ++taken[next];
    choice.learn(seconds[next]);
  }
  return taken;
}

TEST(StrategyChoice, BeginsAsTheModelSays) {
  const StrategyChoice choice(Seconds{1, 2, 3});
  EXPECT_EQ(choice.next(), 0U);
  EXPECT_TRUE(choice.open());
  EXPECT_FALSE(choice.measured(0));
  EXPECT_FALSE(StrategyChoice(Seconds{1}).open());
}

TEST(StrategyChoice, ComesToTheFasterOneInSixAccesses) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  const auto taken = make_accesses(choice, 6, {14e-3, 7e-3});
  EXPECT_EQ(taken.at(1), 3);
  EXPECT_EQ(choice.next(), 1U);
  EXPECT_DOUBLE_EQ(choice.seconds(1), 7e-3);
  EXPECT_DOUBLE_EQ(choice.seconds(0), 14e-3);
}

TEST(StrategyChoice, TriesThreeAccessesOfEachWay) {
  StrategyChoice choice(Seconds{6e-3, 7e-3, 8e-3, 9e-3});
  const auto taken = make_accesses(choice, 12, {6e-3, 5e-3, 4e-3, 5e-3});
  for (std::size_t way = 0; way < 4; ++way) EXPECT_EQ(taken.at(way), 3);
  EXPECT_EQ(choice.next(), 2U);
}

TEST(StrategyChoice, StaysWithTheFasterOne) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  make_accesses(choice, 6, {6e-3, 7e-3});
  const auto taken = make_accesses(choice, 130, {6e-3, 7e-3});
  EXPECT_EQ(taken.at(1), 2);  // now and then, to see whether it has become better
}

TEST(StrategyChoice, NeverTriesWhatTheModelCallsHopeless) {
  StrategyChoice choice(Seconds{6e-3, 2.5, 7e-3});
  EXPECT_TRUE(choice.open());
  const auto taken = make_accesses(choice, 1000, {6e-3, 2.5, 7e-3});
  EXPECT_EQ(taken.count(1), 0U);
}

TEST(StrategyChoice, TriesOnceWhatProvesHopeless) {
  StrategyChoice choice(Seconds{6e-3, 12e-3, 12e-3});
  const auto taken = make_accesses(choice, 1000, {6e-3, 100e-3, 3e-3});
  EXPECT_EQ(taken.at(1), 1);
  EXPECT_EQ(choice.next(), 2U);
}

TEST(StrategyChoice, DoesNotCountTheFirstAccessOfEach) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  choice.learn(1);  // from the disk
  choice.learn(6e-3);
  EXPECT_EQ(choice.next(), 1U);
  choice.learn(12e-3);  // makes its windows
  make_accesses(choice, 3, {6e-3, 4e-3});
  EXPECT_EQ(choice.next(), 1U);
}

TEST(StrategyChoice, NoticesWhenTheOtherOneHasBecomeFaster) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  make_accesses(choice, 100, {6e-3, 7e-3});
  ASSERT_EQ(choice.next(), 0U);
  make_accesses(choice, 100, {14e-3, 7e-3});  // cores that no longer share a cache
  EXPECT_EQ(choice.next(), 1U);
}

TEST(StrategyChoice, IsTheSameForTheSameTimes) {
  StrategyChoice one(Seconds{5e-3, 7e-3, 8e-3});
  StrategyChoice two(Seconds{5e-3, 7e-3, 8e-3});
  double seconds = 3e-3;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(one.next(), two.next());
    seconds = seconds > 9e-3 ? seconds / 7 : seconds * 1.37;
    one.learn(seconds);
    two.learn(seconds);
  }
}

}  // namespace
