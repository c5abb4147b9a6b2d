#include "plan/access/strategy_choice.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

/// The model is seldom wrong by more: a strategy that it says takes longer by this factor is never tried.
constexpr double kMostRatio = 4;
/// One that took longer by this factor when it was first tried is not tried again soon.
constexpr double kHopeless = 2.5;
/// Accesses that are measured of each before the choice is made.
constexpr std::int64_t kMeasured = 2;
/// How many accesses lie between two trials of the slower one.
constexpr std::int64_t kTryAgain = 64;
/// The share of the newest measurement once both are known.
constexpr double kNewest = 0.25;

}  // namespace

StrategyChoice::StrategyChoice(Strategy preferred, double predicted, double predicted_other)
    : preferred_(preferred), open_(predicted_other <= kMostRatio * predicted) {}

Strategy StrategyChoice::strategy_of(std::size_t way) const {
  if (way == 0) return preferred_;
  return preferred_ == Strategy::kDirect ? Strategy::kTwoPhase : Strategy::kDirect;
}

std::size_t StrategyChoice::next_way() const {
  const Way& mine = ways_[0];
  const Way& other = ways_[1];
  if (!open_ || mine.counted == 0) return 0;
  if (other.accesses == 0) return 1;
  const bool hopeless = other.counted <= 1 && other.seconds > kHopeless * mine.seconds;
  // In turns, so that what else happens on the machine meets both.
  if (!hopeless && std::min(mine.counted, other.counted) < kMeasured) return mine.counted > other.counted ? 1 : 0;
  const std::size_t faster = other.seconds < mine.seconds ? 1 : 0;
  const Way& slower = ways_[1 - faster];
  const bool again = slower.seconds <= kHopeless * ways_[faster].seconds && accesses_ - slower.last >= kTryAgain;
  return again ? 1 - faster : faster;
}

Strategy StrategyChoice::next() const { return strategy_of(next_way()); }

void StrategyChoice::learn(double seconds) {
  Way& way = ways_[next_way()];
  way.last = ++accesses_;
  if (++way.accesses == 1) {
    way.seconds = seconds;
    return;
  }
  ++way.counted;
  if (way.counted == 1) {
    way.seconds = seconds;
  } else if (way.counted <= kMeasured) {
    way.seconds = std::min(way.seconds, seconds);
  } else {
    way.seconds += kNewest * (seconds - way.seconds);
  }
}

}  // namespace plait::plan
