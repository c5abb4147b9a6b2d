#include "plan/access/strategy_choice.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

/// By which factor the model errs at most.
constexpr double kErrs = 1.75;
/// Accesses of the model's way before anything else is tried: the first one finds everything cold.
constexpr std::int64_t kFirst = 2;
/// How many times as long as later ones the first access of a way takes at most, and takes as a rule.
constexpr double kMostCold = 2.5;
constexpr double kUsuallyCold = 1.4;
/// By which factors one measurement, and two, are wrong.
constexpr double kOneErrs = 1.3;
constexpr double kTwoErr = 1.14;
/// So many accesses later a measurement is old, and by which factor the time has changed since at most.
constexpr std::int64_t kOld = 64;
constexpr double kChanges = 3;

}  // namespace

StrategyChoice::StrategyChoice(std::span<const double> predicted) : ways_(predicted.size()) {
  for (std::size_t way = 1; way < ways_.size(); ++way)
    ways_[way].ratio = predicted[0] > 0 ? predicted[way] / predicted[0] : kErrs;
}

bool StrategyChoice::open() const {
  return std::any_of(ways_.begin() + 1, ways_.end(), [](const Way& way) { return way.ratio < kErrs; });
}

StrategyChoice::Bounds StrategyChoice::bounds(std::size_t way) const {
  const Way& mine = ways_[way];
  if (mine.accesses == 0) {
    const double predicted = mine.ratio * seconds(0);
    return {predicted / kErrs, predicted * kErrs};
  }
  const double found = seconds(way);
  if (accesses_ - mine.last >= kOld) return {found / kChanges, found * kChanges};
  if (mine.accesses == 1) return {found / kMostCold, found};
  if (mine.recent.size() == kKept) return {found, found};  // or what is a little slower would be tried for ever
  const double errs = mine.recent.size() == 1 ? kOneErrs : kTwoErr;
  return {found / errs, found * errs};
}

std::size_t StrategyChoice::fastest() const {
  std::size_t best = 0;
  for (std::size_t way = 1; way < ways_.size(); ++way)
    if (ways_[way].accesses > 0 && seconds(way) < seconds(best)) best = way;
  return best;
}

/// What trying a way instead of one that takes `best` saves in the accesses to come, without what it may take longer;
/// its time is as likely to be anywhere between its bounds.  As many accesses are to come as there have been, or, where
/// it is tried again, as there have been since.
double StrategyChoice::worth_trying(std::size_t way, double best) const {
  const Way& mine = ways_[way];
  const auto [least, most] = bounds(way);
  if (least >= best) return 0;
  const double gain = most <= best ? best - (least + most) / 2 : (best - least) * (best - least) / (2 * (most - least));
  const double cost = mine.accesses == 0 ? kUsuallyCold * mine.ratio * seconds(0) - best : (least + most) / 2 - best;
  const std::int64_t since = accesses_ - mine.last;
  return gain * static_cast<double>(since >= kOld ? since : std::min(accesses_, kOld)) - cost;
}

std::size_t StrategyChoice::next() const {
  if (accesses_ < kFirst) return 0;
  const std::size_t best = fastest();
  std::size_t chosen = best;
  double most = 0;
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    const double worth = way == best ? 0 : worth_trying(way, seconds(best));
    if (worth <= most) continue;
    chosen = way;
    most = worth;
  }
  return chosen;
}

void StrategyChoice::learn(double seconds) {
  Way& way = ways_[next()];
  if (++way.accesses == 2 || accesses_ - way.last >= kOld) way.recent.clear();
  if (way.recent.size() == kKept) way.recent.erase(way.recent.begin());
  way.last = ++accesses_;
  way.recent.push_back(seconds);
  std::vector<double> sorted = way.recent;
  std::ranges::sort(sorted);
  way.seconds = sorted[(sorted.size() - 1) / 2];
}

}  // namespace plait::plan
