// The overlaps of two periodic index sets.
//
// Problem: the common period of strides such as 10^6 and 10^6 + 1 is 10^12 indices, so the overlaps cannot be found by
// enumerating the period.
//
// Idea: run i of a and run j of b overlap if b's run begins at a distance d from a's with -length_b < d < length_a.
// Such a pair exists if and only if the gcd g of the strides divides d minus the offset of both origins, and then i
// follows from i * stride_a = offset - d modulo stride_b. There are about (length_a + length_b) / g distances,
// independent of the period.
//
// Example: a = 0,1, 4,5, 8,9, ... (length 2, stride 4) and b = 0,1,2, 6,7,8, ... (length 3, stride 6). The period is
// 12 and g = 2, so the distances in -2 .. 1 to examine are -2 and 0. d = 0: 4i = 0 modulo 6, i = 0, overlap 0,1. d =
// -2: 4i = 2 modulo 6, i = 2, a's run 8,9 and b's run 6,7,8, overlap 8. One period thus has the overlaps 0,1 and 8.
//
// If both sets have few runs in the range, walking over these is cheaper; find() estimates the operations of both
// methods.

#include "layout/index_set/common_runs.hpp"

#include <algorithm>

#include "base/int128.hpp"

namespace plait::layout {

using base::Int128;

CommonRuns::Side::Side(const IndexSet& s)
    : set(s), length(s.contiguous() ? 1 : s.length), stride(s.contiguous() ? 1 : s.stride), single_run{0, length, 0} {}

std::span<const IndexSet::PatternRun> CommonRuns::Side::runs() const {
  if (set.pattern) return *set.pattern;
  return {&single_run, 1};
}

CommonRuns::CommonRuns(const IndexSet& a, const IndexSet& b)
    : side_a_(a), side_b_(b), begin_(std::max(a.begin, b.begin)), end_(std::max(begin_, std::min(a.end, b.end))) {
  // No congruence is needed if one of the sets is contiguous.
  if (side_a_.stride != 1 && side_b_.stride != 1) congruence_ = solve_congruence(side_a_.stride, side_b_.stride);
  const Int128 period = Int128{side_a_.stride / congruence_.divisor} * side_b_.stride;
  repeats_ = period <= end_ - begin_;
  if (repeats_) period_ = static_cast<std::int64_t>(period);
}

std::vector<Run> CommonRuns::find(std::int64_t from, std::int64_t to) const {
  std::vector<Run> overlaps;
  if (from >= to) return overlaps;
  const IndexSet& a = side_a_.set;
  const IndexSet& b = side_b_.set;
  if (a.contains(from) && b.contains(from)) {
    // The run that contains `from` is handled separately, so that every other overlap begins after `from`.
    const std::int64_t stop = std::min({a.run_end(from), b.run_end(from), to});
    overlaps.push_back({from, stop - from});
    from = stop;
    if (from >= to) return overlaps;
  }
  // If one set is contiguous, all runs of the other one in the range are overlaps.
  const bool is_walk_cheaper =
      side_a_.stride == 1 || side_b_.stride == 1 ||
      std::min(estimate_walk_operations(side_a_, side_b_, from, to),
               estimate_walk_operations(side_b_, side_a_, from, to)) <= estimate_solve_operations();
  if (is_walk_cheaper) {
    walk(from, to, overlaps);
  } else {
    solve(from, to, overlaps);
  }
  return overlaps;
}

/// Returns the estimated number of runs of the outer set in the range, plus the number of runs of the inner set that
/// begin within these.
double CommonRuns::estimate_walk_operations(const Side& outer, const Side& inner, std::int64_t from, std::int64_t to) {
  const std::int64_t periods = (to - from) / outer.stride;
  const auto runs = static_cast<double>(outer.runs().size());
  // If the period is longer than the range, the runs in the range are counted exactly.
  const bool is_partial = periods == 0 && outer.set.pattern;
  const double outer_runs =
      is_partial ? static_cast<double>(outer.set.clip(from, to).runs()) : (static_cast<double>(periods) + 1) * runs;
  const double inner_runs = static_cast<double>(inner.runs().size()) / static_cast<double>(inner.stride);
  return outer_runs * (1 + static_cast<double>(outer.length) / runs * inner_runs);
}

double CommonRuns::estimate_solve_operations() const {
  const auto runs_a = static_cast<double>(side_a_.runs().size());
  const auto runs_b = static_cast<double>(side_b_.runs().size());
  const auto length_a = static_cast<double>(side_a_.length);
  const auto length_b = static_cast<double>(side_b_.length);
  return runs_a * runs_b + (runs_a * length_b + runs_b * length_a) / static_cast<double>(congruence_.divisor);
}

/// Advances each set in turn to its first member at or after the current member of the other one.
void CommonRuns::walk(std::int64_t from, std::int64_t to, std::vector<Run>& overlaps) const {
  const IndexSet& a = side_a_.set;
  const IndexSet& b = side_b_.set;
  std::int64_t x = a.next(from);
  while (x < to) {
    const std::int64_t y = b.next(x);
    if (y >= to) return;
    if (y != x) {
      x = a.next(y);
      if (x != y) continue;
    }
    const std::int64_t stop = std::min({a.run_end(x), b.run_end(x), to});
    overlaps.push_back({x, stop - x});
    x = a.next(stop);
  }
}

/// Runs i of a and j of b overlap if b's run begins at a distance d of -length_b < d < length_a from a's.
void CommonRuns::solve(std::int64_t from, std::int64_t to, std::vector<Run>& overlaps) const {
  const std::int64_t g = congruence_.divisor;
  const Int128 modulus = side_b_.stride / g;
  const Int128 full_period = Int128{side_a_.stride} * modulus;
  const Int128 shift = Int128{congruence_.inverse} * side_a_.stride;
  const auto first_unsorted = static_cast<std::ptrdiff_t>(overlaps.size());
  for (const IndexSet::PatternRun& run_a : side_a_.runs()) {
    const Int128 origin_a = Int128{side_a_.set.origin} + run_a.begin;
    for (const IndexSet::PatternRun& run_b : side_b_.runs()) {
      const Int128 offset = Int128{side_b_.set.origin} + run_b.begin - origin_a;
      // The smallest d > -length_b with d = offset modulo g.
      Int128 d = 1 - run_b.length;
      d += base::modulo(offset - d, g);
      if (d >= run_a.length) continue;
      // The period i of a whose run has a run of b at distance d: i * stride_a = offset - d modulo stride_b. From one
      // distance to the next one, i decreases by the inverse, so the run moves back by a constant, modulo the full
      // period.
      const Int128 i = base::modulo((offset - d) / g, modulus) * congruence_.inverse % modulus;
      Int128 start = base::modulo(origin_a + i * side_a_.stride - from, full_period);
      for (; d < run_a.length; d += g, start = start < shift ? start - shift + full_period : start - shift) {
        const Int128 distance_from_begin = start + std::max<Int128>(d, 0);
        const Int128 x =
            from + (distance_from_begin >= full_period ? distance_from_begin - full_period : distance_from_begin);
        if (x >= to) continue;
        const Int128 length = std::min<Int128>(run_a.length, d + run_b.length) - std::max<Int128>(d, 0);
        overlaps.push_back({static_cast<std::int64_t>(x), static_cast<std::int64_t>(std::min(length, to - x))});
      }
    }
  }
  std::sort(overlaps.begin() + first_unsorted, overlaps.end(),
            [](const Run& s, const Run& t) { return s.begin < t.begin; });
}

}  // namespace plait::layout
