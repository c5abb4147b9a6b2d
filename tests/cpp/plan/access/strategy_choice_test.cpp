// Which strategy is taken, by the times that accesses took.
#include "plan/access/strategy_choice.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

using plait::plan::Strategy;
using plait::plan::StrategyChoice;

/// Makes accesses that take these seconds; how often each strategy was taken.
std::map<Strategy, int> make_accesses(StrategyChoice& choice, int count, double direct, double two_phase) {
  std::map<Strategy, int> taken;
  for (int i = 0; i < count; ++i) {
    const Strategy next = choice.next();
    ++taken[next];
    choice.learn(next == Strategy::kDirect ? direct : two_phase);
  }
  return taken;
}

TEST(StrategyChoice, BeginsAsTheModelSays) {
  const StrategyChoice direct(Strategy::kDirect, 1, 2);
  EXPECT_EQ(direct.next(), Strategy::kDirect);
  EXPECT_FALSE(direct.measured());
  const StrategyChoice two_phase(Strategy::kTwoPhase, 1, 2);
  EXPECT_EQ(two_phase.next(), Strategy::kTwoPhase);
}

TEST(StrategyChoice, ComesToTheFasterOneInSixAccesses) {
  StrategyChoice choice(Strategy::kTwoPhase, 6e-3, 7e-3);
  const auto taken = make_accesses(choice, 6, 7e-3, 14e-3);
  EXPECT_EQ(taken.at(Strategy::kDirect), 3);
  EXPECT_TRUE(choice.measured());
  EXPECT_EQ(choice.next(), Strategy::kDirect);
  EXPECT_DOUBLE_EQ(choice.seconds(Strategy::kDirect), 7e-3);
  EXPECT_DOUBLE_EQ(choice.seconds(Strategy::kTwoPhase), 14e-3);
}

TEST(StrategyChoice, StaysWithTheFasterOne) {
  StrategyChoice choice(Strategy::kDirect, 6e-3, 7e-3);
  make_accesses(choice, 6, 6e-3, 7e-3);
  const auto taken = make_accesses(choice, 130, 6e-3, 7e-3);
  EXPECT_EQ(taken.at(Strategy::kTwoPhase), 2);  // now and then, to see whether it has become better
}

TEST(StrategyChoice, NeverTriesWhatTheModelCallsHopeless) {
  StrategyChoice choice(Strategy::kTwoPhase, 6e-3, 2.5);
  EXPECT_FALSE(choice.open());
  const auto taken = make_accesses(choice, 1000, 2.5, 6e-3);
  EXPECT_EQ(taken.count(Strategy::kDirect), 0U);
}

TEST(StrategyChoice, TriesOnceWhatProvesHopeless) {
  StrategyChoice choice(Strategy::kTwoPhase, 6e-3, 12e-3);
  const auto taken = make_accesses(choice, 1000, 100e-3, 6e-3);
  EXPECT_EQ(taken.at(Strategy::kDirect), 1);
}

TEST(StrategyChoice, DoesNotCountTheFirstAccessOfEach) {
  StrategyChoice choice(Strategy::kDirect, 6e-3, 7e-3);
  choice.learn(1);  // from the disk
  choice.learn(6e-3);
  EXPECT_EQ(choice.next(), Strategy::kTwoPhase);
  choice.learn(12e-3);  // makes its windows
  make_accesses(choice, 3, 6e-3, 4e-3);
  EXPECT_EQ(choice.next(), Strategy::kTwoPhase);
}

TEST(StrategyChoice, NoticesWhenTheOtherOneHasBecomeFaster) {
  StrategyChoice choice(Strategy::kTwoPhase, 6e-3, 7e-3);
  make_accesses(choice, 100, 7e-3, 6e-3);
  ASSERT_EQ(choice.next(), Strategy::kTwoPhase);
  make_accesses(choice, 100, 7e-3, 14e-3);  // cores that no longer share a cache
  EXPECT_EQ(choice.next(), Strategy::kDirect);
}

TEST(StrategyChoice, IsTheSameForTheSameTimes) {
  StrategyChoice one(Strategy::kDirect, 5e-3, 7e-3);
  StrategyChoice two(Strategy::kDirect, 5e-3, 7e-3);
  double seconds = 3e-3;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(one.next(), two.next());
    seconds = seconds > 9e-3 ? seconds / 7 : seconds * 1.37;
    one.learn(seconds);
    two.learn(seconds);
  }
}

}  // namespace
