/// Which of several ways of an access is the fastest one, by how long accesses took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::plan {

/// An access that is made again and again: direct, or two-phase by some readers.
///
/// The cost model begins.  Another way is tried where that pays: what it may save, were as many accesses to come as there
/// have been, has to be more than what the trial may take longer.  So a program of a few accesses tries next to nothing,
/// and what is far from the best is tried late, once or never.  The fastest one is taken then, and others that are near
/// are tried again now and then, for what a window costs changes where virtual cores move.
///
/// All ranks that are told the same times come to the same choices: nothing is used here but sums, products, quotients
/// and comparisons, which give the same on all processors.
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

  /// Whether a way has been measured with warm caches and windows, and what it took lately.
  bool measured(std::size_t way) const { return ways_[way].accesses > 1; }
  double seconds(std::size_t way) const { return ways_[way].seconds; }

 private:
  static constexpr std::size_t kKept = 3;
  struct Way {
    double ratio = 1;  // to the first one, as the model says
    std::int64_t accesses = 0;
    std::int64_t last = 0;       // the access that was its last one
    std::vector<double> recent;  // at most kKept times; that of the first access, which is cold, until there is another
    double seconds = 0;          // their median
  };
  /// What an access may take.
  struct Bounds {
    double least;
    double most;
  };
  Bounds bounds(std::size_t way) const;
  std::size_t fastest() const;
  double worth_trying(std::size_t way, double best) const;

  std::int64_t accesses_ = 0;
  std::vector<Way> ways_;
};

}  // namespace plait::plan
