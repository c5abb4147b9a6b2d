/// Which of two strategies is the faster one, by how long accesses took.
#pragma once

#include <array>
#include <cstdint>

#include "plan/access/access.hpp"

namespace plait::plan {

/// An access that is made again and again: direct or two-phase.
///
/// The cost model begins.  Where it says that the other strategy may be about as good, that one is tried as well, and
/// from then on the one that took less time is taken; the other one is tried again now and then, for what a window costs
/// changes where virtual cores move.  All ranks that are told the same times come to the same choices.
class StrategyChoice {
 public:
  /// preferred  By the model, which predicts so many seconds for it, and for the other one.
  StrategyChoice(Strategy preferred, double predicted, double predicted_other);

  /// Whether the other strategy may be the better one.
  bool open() const { return open_; }
  /// The strategy of the next access.
  Strategy next() const;
  /// Tells what an access by next() took.
  void learn(double seconds);

  /// Whether both have been tried.
  bool measured() const { return ways_[0].counted > 0 && ways_[1].counted > 0; }
  /// What a strategy took lately.
  double seconds(Strategy strategy) const { return ways_[way_of(strategy)].seconds; }

 private:
  struct Way {
    std::int64_t accesses = 0;
    std::int64_t counted = 0;  // without the first one, which finds caches and windows cold
    double seconds = 0;
    std::int64_t last = 0;
  };
  std::size_t way_of(Strategy strategy) const { return strategy == preferred_ ? 0 : 1; }
  Strategy strategy_of(std::size_t way) const;
  std::size_t next_way() const;

  Strategy preferred_;
  bool open_;
  std::int64_t accesses_ = 0;
  std::array<Way, 2> ways_{};  // the preferred one and the other one
};

}  // namespace plait::plan
