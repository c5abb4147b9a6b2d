#include "plan/access/strategy_choice.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

/// By which factor the model errs at most, and what took so long many accesses ago has changed since.
constexpr double kErrs = 2;
/// Accesses of the model's way before anything else is tried: the first one finds everything cold.
constexpr std::int64_t kFirst = 2;
/// How many times as long as later ones the first access of a way takes at most, and takes as a rule.
constexpr double kMostCold = 2.5;
constexpr double kUsuallyCold = 1.4;
/// By which factors one measurement, and several, are wrong.
constexpr double kOneErrs = 1.3;
constexpr double kSeveralErr = 1.14;
/// So many accesses later a measurement says little, and no decision counts for more of them.
constexpr std::int64_t kForgotten = 64;

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
  if (accesses_ - mine.last >= kForgotten) return {found / kErrs, found * kErrs};
  if (mine.accesses == 1) return {found / kMostCold, found};
  const double errs = mine.recent.size() == 1 ? kOneErrs : kSeveralErr;
  return {found / errs, found * errs};
}

std::size_t StrategyChoice::fastest() const {
  std::size_t best = 0;
  for (std::size_t way = 1; way < ways_.size(); ++way)
    if (ways_[way].accesses > 0 && seconds(way) < seconds(best)) best = way;
  return best;
}

/// What trying a way instead of one that takes `best` saves in the accesses to come, without what it may take longer;
/// its time is as likely to be anywhere between its bounds.
double StrategyChoice::worth_trying(std::size_t way, double best) const {
  const auto [least, most] = bounds(way);
  if (least >= best) return 0;
  const double mean = (least + most) / 2;
  const double gain = most <= best ? best - mean : (best - least) * (best - least) / (2 * (most - least));
  const double cost = (ways_[way].accesses == 0 ? kUsuallyCold : 1) * mean - best;
  return gain * static_cast<double>(std::min(accesses_, kForgotten)) - cost;
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
  way.last = ++accesses_;
  if (++way.accesses == 2 || way.recent.size() == kKept) way.recent.erase(way.recent.begin());
  way.recent.push_back(seconds);
  std::vector<double> sorted = way.recent;
  std::ranges::sort(sorted);
  way.seconds = sorted[(sorted.size() - 1) / 2];
}

}  // namespace plait::plan
