/// The choice of the fastest strategy by the times of earlier accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::plan {

/// Chooses how to carry out an access that a program repeats: directly, or in two phases by different numbers of
/// readers.
///
/// The cost model determines the first choice.  Another strategy is tried if its expected saving, over as many further
/// accesses as there have been, exceeds the expected cost of the trial.  Therefore a program of a few accesses tries
/// next to nothing, and a strategy that is far from the best is tried late, once or never.  After trials the fastest
/// strategy is used.  Others with similar times are tried again from time to time, because the cost of windows changes
/// when virtual cores move.
///
/// All ranks that record the same times make the same choices: the class uses only sums, products, quotients and
/// comparisons, whose results are equal on all processors.
class StrategyChoice {
 public:
  /// predicted Predicted seconds of each strategy; the first one is the model's choice.
  explicit StrategyChoice(std::span<const double> predicted);

  /// True if a strategy other than the first one may be the fastest, so that measurements are of use.
  bool open() const;
  /// Returns the strategy of the next access.
  std::size_t next() const;
  /// Records the time of an access by next().
  void learn(double seconds);

  /// Return whether a strategy (`way` is its index) was measured with warm caches and windows, and its median time over
  /// recent accesses.
  bool measured(std::size_t way) const { return ways_[way].accesses > 1; }
  double seconds(std::size_t way) const { return ways_[way].seconds; }

 private:
  static constexpr std::size_t kMaxEntries = 3;
  struct StrategyRecord {
    double ratio = 1;  // predicted time, divided by the first strategy's
    std::int64_t accesses = 0;
    std::int64_t last = 0;       // number of its last access
    std::vector<double> recent;  // at most kMaxEntries times; the second access discards the cold first one
    double seconds = 0;          // median of `recent`
  };
  /// Bounds on the time of an access.
  struct Bounds {
    double shortest;
    double longest;
  };
  Bounds bounds(std::size_t way) const;
  /// Returns the strategy with the shortest measured time.
  std::size_t fastest() const;
  double worth_trying(std::size_t way, double best) const;

  std::int64_t accesses_ = 0;
  std::vector<StrategyRecord> ways_;
};

}  // namespace plait::plan
