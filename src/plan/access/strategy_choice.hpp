/// Which of several ways of an access is the fastest one, by how long accesses took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::plan {

/// An access that is made again and again: direct, or two-phase by some readers.
///
/// The cost model begins.  Ways that it says may be about as good are tried as well, and from then on the one that took
/// the least time is taken; the others are tried again now and then, for what a window costs changes where virtual cores
/// move.  All ranks that are told the same times come to the same choices.
class StrategyChoice {
 public:
  /// predicted  Seconds of each way, by the model; the first one is what it prefers.
  explicit StrategyChoice(std::span<const double> predicted);

  /// Whether another way than the first one may be the best.
  bool open() const;
  /// The way of the next access.
  std::size_t next() const;
  /// Tells what an access by next() took.
  void learn(double seconds);

  /// Whether a way has been measured, and what it took lately.
  bool measured(std::size_t way) const { return ways_[way].counted > 0; }
  double seconds(std::size_t way) const { return ways_[way].seconds; }

 private:
  struct Way {
    bool open = true;
    std::int64_t accesses = 0;
    std::int64_t counted = 0;  // without the first one, which finds caches and windows cold
    double seconds = 0;
    std::int64_t last = 0;
  };
  bool is_hopeless(std::size_t way) const;
  bool may_take(std::size_t way) const { return ways_[way].open && !is_hopeless(way); }
  std::size_t fastest() const;

  std::int64_t accesses_ = 0;
  std::vector<Way> ways_;
};

}  // namespace plait::plan
