// The choice of a strategy by the measured times of accesses. Strategies are numbers; 0 is the cost model's choice.
#include "plan/access/strategy_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace {

using plait::plan::StrategyChoice;
using Seconds = std::vector<double>;

/// Makes `count` accesses that take `seconds[s]` with strategy s. Returns how often each strategy was used.
std::map<std::size_t, int> make_accesses(StrategyChoice& choice, int count, const Seconds& seconds) {
  std::map<std::size_t, int> counts;
  for (int i = 0; i < count; ++i) {
    const std::size_t next = choice.next();
    ++counts[next];
    choice.learn(seconds[next]);
  }
  return counts;
}

/// Returns the time of a program of `count` accesses; the first access with each strategy takes `first_factor` times as
/// long as later ones.
double program_seconds(const Seconds& predicted, const Seconds& seconds, int count, double first_factor = 1.5) {
  StrategyChoice choice(predicted);
  std::vector<bool> used(seconds.size(), false);
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t next = choice.next();
    const double duration = seconds[next] * (used[next] ? 1 : first_factor);
    used[next] = true;
    total += duration;
    choice.learn(duration);
  }
  return total;
}

TEST(StrategyChoice, BeginsWithTheBestPrediction) {
  const StrategyChoice choice(Seconds{1, 1.5, 3});
  EXPECT_EQ(choice.next(), 0U);
  EXPECT_TRUE(choice.open());
  EXPECT_FALSE(choice.measured(0));
  EXPECT_FALSE(StrategyChoice(Seconds{1}).open());
  EXPECT_FALSE(StrategyChoice(Seconds{1, 2}).open());
  EXPECT_FALSE(StrategyChoice(Seconds{0, 0}).open());  // nothing to access
}

TEST(StrategyChoice, TriesNoOtherStrategyInAFewAccesses) {
  for (const double ratio : {1.0, 1.1, 1.3, 1.7, 5.0}) {
    StrategyChoice choice(Seconds{6e-3, ratio * 6e-3});
    EXPECT_EQ(make_accesses(choice, 3, {6e-3, 6e-3}).count(1), 0U);
  }
}

TEST(StrategyChoice, SwitchesToTheFasterStrategy) {
  for (const double ratio : {1.0, 1.1, 1.3, 1.5}) {
    StrategyChoice choice(Seconds{6e-3, ratio * 6e-3});
    make_accesses(choice, ratio < 1.5 ? 64 : 300, {6e-3, 3e-3});
    EXPECT_EQ(choice.next(), 1U) << ratio;
    EXPECT_DOUBLE_EQ(choice.seconds(1), 3e-3);
    EXPECT_DOUBLE_EQ(choice.seconds(0), 6e-3);
  }
}

TEST(StrategyChoice, TriesStrategiesWithCloserPredictionsEarlier) {
  int previous_accesses = 0;
  for (const double ratio : {1.0, 1.2, 1.4, 1.6}) {
    StrategyChoice choice(Seconds{6e-3, ratio * 6e-3});
    int accesses = 0;
    for (; choice.next() == 0; ++accesses) choice.learn(6e-3);
    EXPECT_GT(accesses, previous_accesses);
    previous_accesses = accesses;
  }
}

TEST(StrategyChoice, SwitchesToTheFastestOfSeveralStrategies) {
  StrategyChoice choice(Seconds{6e-3, 6.3e-3, 6.6e-3, 9e-3});
  make_accesses(choice, 150, {6e-3, 5e-3, 4e-3, 5e-3});
  EXPECT_EQ(choice.next(), 2U);
}

TEST(StrategyChoice, StaysWithTheFasterStrategy) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  make_accesses(choice, 64, {6e-3, 8e-3});
  const auto counts = make_accesses(choice, 640, {6e-3, 8e-3});
  EXPECT_GE(counts.at(1), 5);  // from time to time, in case it has become faster
  EXPECT_LE(counts.at(1), 20);
}

TEST(StrategyChoice, UsesAStrategyThatIsALittleSlowerForFewAccesses) {
  for (const double ratio : {0.9, 1.0, 1.2})
    for (const double other : {0.9, 0.93, 0.96, 0.99, 1.01, 1.04, 1.07, 1.1, 1.13}) {
      StrategyChoice choice(Seconds{1, ratio});
      const auto counts = make_accesses(choice, 1000, {1, other});
      EXPECT_LE(counts.at(other < 1 ? 0 : 1), 100) << ratio << ", " << other;
    }
  StrategyChoice several(Seconds{1, 1, 1.1, 1.2});
  EXPECT_GE(make_accesses(several, 1000, {1.05, 1, 1.1, 1.07}).at(1), 800);
}

TEST(StrategyChoice, NeverTriesAStrategyWithAVeryLongPredictedTime) {
  StrategyChoice choice(Seconds{6e-3, 2.5, 7e-3});
  EXPECT_TRUE(choice.open());
  const auto counts = make_accesses(choice, 1000, {6e-3, 2.5, 7e-3});
  EXPECT_EQ(counts.count(1), 0U);
}

TEST(StrategyChoice, TriesAVerySlowStrategyOnce) {
  StrategyChoice choice(Seconds{6e-3, 7e-3, 7e-3});
  const auto counts = make_accesses(choice, 1000, {6e-3, 100e-3, 4e-3});
  EXPECT_EQ(counts.at(1), 1);
  EXPECT_EQ(choice.next(), 2U);
}

TEST(StrategyChoice, IgnoresTheTimesOfFirstAccesses) {
  StrategyChoice choice(Seconds{6e-3, 6.1e-3});
  choice.learn(1);  // the first access: the file is not in memory yet
  choice.learn(6e-3);
  EXPECT_DOUBLE_EQ(choice.seconds(0), 6e-3);
  while (choice.next() == 0) choice.learn(6e-3);
  choice.learn(8e-3);  // the first access with strategy 1 allocates its windows
  make_accesses(choice, 20, {6e-3, 4e-3});
  EXPECT_EQ(choice.next(), 1U);
}

TEST(StrategyChoice, IsNotMisledByOneSlowAccess) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  make_accesses(choice, 30, {6e-3, 7e-3});
  while (choice.next() != 0) choice.learn(7e-3);
  choice.learn(100e-3);
  EXPECT_EQ(choice.next(), 0U);
}

TEST(StrategyChoice, NoticesThatAnotherStrategyHasBecomeFaster) {
  StrategyChoice choice(Seconds{6e-3, 7e-3});
  make_accesses(choice, 200, {6e-3, 8e-3});
  ASSERT_EQ(choice.next(), 0U);
  make_accesses(choice, 100, {16e-3, 8e-3});  // as if the ranks had moved to cores without a common cache
  EXPECT_EQ(choice.next(), 1U);
  make_accesses(choice, 300, {6e-3, 8e-3});
  EXPECT_EQ(choice.next(), 0U);
}

/// Random times, for which the model predicts the best strategy correctly.
TEST(StrategyChoice, TrialsCostLittleIfTheModelIsRight) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(1.0, 4.0);
  for (const int count : {1, 3, 6, 12, 50, 200}) {
    double mean_ratio = 0;
    for (int i = 0; i < 200; ++i) {
      const Seconds seconds{1, factor(random), factor(random), factor(random)};
      const double program = program_seconds(seconds, seconds, count);
      const double fastest = count + 0.5;  // strategy 0 in all accesses, the first of which takes 1.5
      mean_ratio += program / fastest / 200;
      EXPECT_LE(program, fastest * 1.35) << count;
    }
    EXPECT_LE(mean_ratio, count <= 6 ? 1.02 : 1.06) << count;
  }
}

TEST(StrategyChoice, MeasurementsSaveTimeIfTheModelIsWrong) {
  const Seconds predicted{1, 1.2};
  const Seconds seconds{1, 0.5};
  EXPECT_EQ(program_seconds(predicted, seconds, 6), 6.5);
  EXPECT_LT(program_seconds(predicted, seconds, 50), 0.8 * 50);
  EXPECT_LT(program_seconds(predicted, seconds, 200), 0.6 * 200);
}

TEST(StrategyChoice, IsDeterministic) {
  StrategyChoice first(Seconds{5e-3, 7e-3, 8e-3});
  StrategyChoice second(Seconds{5e-3, 7e-3, 8e-3});
  double seconds = 3e-3;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(first.next(), second.next());
    seconds = seconds > 9e-3 ? seconds / 7 : seconds * 1.37;
    first.learn(seconds);
    second.learn(seconds);
  }
}

}  // namespace
