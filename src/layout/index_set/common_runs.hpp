/// The overlaps of two index sets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/index_set/congruence.hpp"
#include "plait/index_set.hpp"

namespace plait::layout {

/// The overlaps of two index sets.
///
/// Two periodic sets repeat after L = lcm of their strides. The overlaps of one such period are found by solving
/// i*stride_a - j*stride_b = d for each possible distance d of two overlapping runs (multiples of the gcd), for each
/// pair of runs, or by walking over the runs if that takes fewer operations.
class CommonRuns {
 public:
  /// Stores references to both sets.
  CommonRuns(const IndexSet& a, const IndexSet& b);

  /// Return the bounds of the indices that are in the ranges of both sets.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  /// Returns true if a common period fits into [begin, end). The three functions below are meaningful only then.
  bool repeats() const { return repeats_; }
  std::int64_t period() const { return period_; }
  std::int64_t period_members_a() const { return period_ / side_a_.stride * side_a_.length; }
  std::int64_t period_members_b() const { return period_ / side_b_.stride * side_b_.length; }

  /// Returns the overlaps in [from, to) in ascending order, each a run of consecutive common members. The bounds are
  /// in [begin, end] and at most one common period apart.
  std::vector<Run> find(std::int64_t from, std::int64_t to) const;

 private:
  /// A set as an endless pattern. Contiguous sets contain all indices, so they have any period.
  struct Side {
    explicit Side(const IndexSet& set);
    std::span<const IndexSet::PatternRun> runs() const;

    const IndexSet& set;
    std::int64_t length;
    std::int64_t stride;
    IndexSet::PatternRun single_run;  // the single run of a period without a pattern
  };

  /// Return the estimated cost of walk() and of solve(), in comparable operations.
  static double estimate_walk_operations(const Side& outer, const Side& inner, std::int64_t from, std::int64_t to);
  double estimate_solve_operations() const;
  /// Append the overlaps in [from, to): by advancing through the runs of both sets, or by solving congruences.
  void walk(std::int64_t from, std::int64_t to, std::vector<Run>& overlaps) const;
  void solve(std::int64_t from, std::int64_t to, std::vector<Run>& overlaps) const;

  Side side_a_;
  Side side_b_;
  std::int64_t begin_;
  std::int64_t end_;
  Congruence congruence_;
  std::int64_t period_ = 1;
  bool repeats_ = false;
};

}  // namespace plait::layout
