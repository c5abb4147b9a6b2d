#include "plan/access/strategy_choice.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

/// The model is seldom wrong by more: a way that it says takes longer by this factor is never tried.
constexpr double kMostRatio = 2;
/// One that took longer by this factor when it was first tried is not tried again.
constexpr double kHopeless = 2.5;
/// Accesses of each that are measured before the choice is made.
constexpr std::int64_t kMeasured = 2;
/// How many accesses lie between two trials of a slower one.
constexpr std::int64_t kTryAgain = 64;
/// The share of the newest measurement once all are known.
constexpr double kNewest = 0.25;

}  // namespace

StrategyChoice::StrategyChoice(std::span<const double> predicted) : ways_(predicted.size()) {
  for (std::size_t way = 1; way < ways_.size(); ++way) ways_[way].open = predicted[way] <= kMostRatio * predicted[0];
}

bool StrategyChoice::open() const {
  return std::any_of(ways_.begin() + 1, ways_.end(), [](const Way& way) { return way.open; });
}

bool StrategyChoice::is_hopeless(std::size_t way) const {
  const Way& mine = ways_[way];
  return way > 0 && mine.accesses > 0 && mine.counted <= 1 && mine.seconds > kHopeless * ways_[0].seconds;
}

std::size_t StrategyChoice::fastest() const {
  std::size_t best = 0;
  for (std::size_t way = 1; way < ways_.size(); ++way)
    if (may_take(way) && ways_[way].seconds < ways_[best].seconds) best = way;
  return best;
}

std::size_t StrategyChoice::next() const {
  if (!open()) return 0;
  for (std::size_t way = 0; way < ways_.size(); ++way)
    if (may_take(way) && ways_[way].counted == 0) return way;
  // In turns, so that what else happens on the machine meets all of them.
  for (std::size_t way = 0; way < ways_.size(); ++way)
    if (may_take(way) && ways_[way].counted < kMeasured) return way;
  const std::size_t best = fastest();
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    const bool near = may_take(way) && ways_[way].seconds <= kHopeless * ways_[best].seconds;
    if (way != best && near && accesses_ - ways_[way].last >= kTryAgain) return way;
  }
  return best;
}

void StrategyChoice::learn(double seconds) {
  Way& way = ways_[next()];
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
