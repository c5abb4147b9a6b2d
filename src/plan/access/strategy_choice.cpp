// The choice between strategies by the measured times of earlier accesses.
//
// Problem: the cost model errs by up to a factor of kErrs = 1.75, so the strategy that it prefers may not be the
// fastest one. Trying another strategy costs time, and the first access of a strategy is slow because its memory is
// cold.
//
// Idea: each strategy has bounds on its time: from the model before it was used, from its recent times afterwards.  It
// is tried if the expected gain over as many further accesses as there have been exceeds the expected cost of the
// trial.  A program with a few accesses tries nothing, and a strategy far from the best is tried late or never.
//
// Example: the model predicts 10 ms for direct access and 12 ms for two-phase access.  The first two accesses are
// direct and take 14 and 10 ms; the first one is discarded as cold.  Two-phase access takes between 12 / 1.75 = 6.9 and
// 12 * 1.75 = 21 ms.  If any time in between is equally likely, it saves (10 - 6.9)^2 / (2 * (21 - 6.9)) = 0.35 ms per
// access on average, if it is used only when it is faster.  A trial costs 1.4 * 12 - 10 = 6.8 ms.  As 20 * 0.35 > 6.8 >
// 19 * 0.35, access 21 is the trial.  If it takes 9 ms, two-phase access is the fastest one from then on.

#include "plan/access/strategy_choice.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

/// Factor by which the model errs at most.
constexpr double kErrs = 1.75;
/// Accesses by the preferred strategy before any trial.  The first one of them finds caches and windows cold.
constexpr std::int64_t kFirst = 2;
/// Factors by which the first access of a strategy takes longer than later ones, at most and usually.
constexpr double kMaxCold = 2.5;
constexpr double kUsuallyCold = 1.4;
/// Factors by which one measurement, and the median of two, may be wrong.
constexpr double kOneErrs = 1.3;
constexpr double kTwoErr = 1.14;
/// Age, in accesses, from which a measurement is old, and the factor by which the time may have changed since.
constexpr std::int64_t kOld = 64;
constexpr double kChanges = 3;

}  // namespace

StrategyChoice::StrategyChoice(std::span<const double> predicted) : ways_(predicted.size()) {
  for (std::size_t way = 1; way < ways_.size(); ++way)
    ways_[way].ratio = predicted[0] > 0 ? predicted[way] / predicted[0] : kErrs;
}

bool StrategyChoice::open() const {
  return std::any_of(ways_.begin() + 1, ways_.end(), [](const StrategyRecord& way) { return way.ratio < kErrs; });
}

StrategyChoice::Bounds StrategyChoice::bounds(std::size_t way) const {
  const StrategyRecord& record = ways_[way];
  if (record.accesses == 0) {
    const double predicted = record.ratio * seconds(0);
    return {predicted / kErrs, predicted * kErrs};
  }
  const double found = seconds(way);
  if (accesses_ - record.last >= kOld) return {found / kChanges, found * kChanges};
  if (record.accesses == 1) return {found / kMaxCold, found};
  // With wider bounds, slightly slower strategies would be tried forever.
  if (record.recent.size() == kMaxEntries) return {found, found};
  const double errs = record.recent.size() == 1 ? kOneErrs : kTwoErr;
  return {found / errs, found * errs};
}

std::size_t StrategyChoice::fastest() const {
  std::size_t best = 0;
  for (std::size_t way = 1; way < ways_.size(); ++way)
    if (ways_[way].accesses > 0 && seconds(way) < seconds(best)) best = way;
  return best;
}

/// Returns the expected saving of a trial over the accesses to come, minus the expected cost of the trial.  `best` is
/// the time of the fastest strategy.  Any time between the bounds is equally likely.  The number of accesses to come is
/// the number of earlier ones, or for a repeated trial the number since the last one.
double StrategyChoice::worth_trying(std::size_t way, double best) const {
  const StrategyRecord& record = ways_[way];
  const auto [shortest, longest] = bounds(way);
  if (shortest >= best) return 0;
  const double gain = longest <= best ? best - (shortest + longest) / 2
                                      : (best - shortest) * (best - shortest) / (2 * (longest - shortest));
  const double cost =
      record.accesses == 0 ? kUsuallyCold * record.ratio * seconds(0) - best : (shortest + longest) / 2 - best;
  const std::int64_t since = accesses_ - record.last;
  return gain * static_cast<double>(since >= kOld ? since : std::min(accesses_, kOld)) - cost;
}

std::size_t StrategyChoice::next() const {
  if (accesses_ < kFirst) return 0;
  const std::size_t best = fastest();
  std::size_t next_way = best;
  double best_worth = 0;
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    const double worth = way == best ? 0 : worth_trying(way, seconds(best));
    if (worth <= best_worth) continue;
    next_way = way;
    best_worth = worth;
  }
  return next_way;
}

void StrategyChoice::learn(double seconds) {
  StrategyRecord& way = ways_[next()];
  if (++way.accesses == 2 || accesses_ - way.last >= kOld) way.recent.clear();
  if (way.recent.size() == kMaxEntries) way.recent.erase(way.recent.begin());
  way.last = ++accesses_;
  way.recent.push_back(seconds);
  std::vector<double> sorted = way.recent;
  std::ranges::sort(sorted);
  way.seconds = sorted[(sorted.size() - 1) / 2];
}

}  // namespace plait::plan
