// Preimages, compositions, intersections and complements of index sets.
//
// Every operation computes the runs of one period of its result and calls periodic() with them, so that its cost does
// not depend on the number of indices.
//
// Example of a preimage: the set 0, 1, 6, 7, 12, 13, ... (length 2, stride 6) and the map i -> 2i + 1, whose images
// are 1, 3, 5, 7, 9, 11, 13. Images repeat modulo the stride after 6 / gcd(2, 6) = 3 indices. Among i = 0, 1, 2, only 0
// has an image in the set, so the preimage is 0, 3, 6, ... (length 1, stride 3).
//
// Example of nest(): the same outer set and the inner set 1, 2 (positions). Positions 1 and 2 of the outer set are
// the indices 1 and 6.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/int128.hpp"
#include "layout/index_set/common_runs.hpp"
#include "layout/index_set/congruence.hpp"
#include "layout/index_set/pattern.hpp"
#include "plait/index_set.hpp"

namespace plait {

namespace {

using base::ceil_divide;
using base::Int128;
using base::modulo;

/// Returns { n - 1 - x : x in set }.
IndexSet mirror(const IndexSet& set, std::int64_t n) {
  if (set.contiguous()) return IndexSet::range(n - set.end, n - set.begin);
  std::vector<Run> runs = layout::period_runs(set);
  std::reverse(runs.begin(), runs.end());
  for (Run& run : runs) run.begin = set.stride - run.begin - run.length;
  return layout::periodic(Int128{n} - set.origin, set.stride, std::move(runs), n - set.end, n - set.begin);
}

/// Finds the i in [lo, hi) whose image scale*i + offset is in the set. All images of [lo, hi) are in the range of the
/// set.
class Preimage {
 public:
  Preimage(const IndexSet& set, Int128 scale, Int128 offset, std::int64_t lo, std::int64_t hi)
      : set_(set), scale_(scale), offset_(offset), lo_(lo), hi_(hi) {}

  IndexSet find() const {
    // The images of i and i + period are a multiple of the stride apart.
    const auto residue = static_cast<std::int64_t>(scale_ % set_.stride);
    const Congruence congruence = solve_congruence(residue == 0 ? set_.stride : residue, set_.stride);
    const std::int64_t period = set_.stride / congruence.divisor;
    const std::int64_t count = std::min(hi_ - lo_, period);
    const std::int64_t walk_operations = set_.clip(image(lo_), image(lo_ + count - 1) + 1).runs();
    const std::int64_t solve_operations = set_.length / congruence.divisor + set_.pattern_runs();
    std::vector<Run> runs =
        solve_operations < std::min(walk_operations, count) ? solve(congruence, period, count) : walk(count);
    if (count == period) return layout::periodic(lo_, period, std::move(runs), lo_, hi_);
    for (Run& run : runs) run.begin += lo_;
    return IndexSet::of_runs(std::move(runs));
  }

 private:
  std::int64_t image(std::int64_t i) const { return static_cast<std::int64_t>(scale_ * i + offset_); }
  /// Returns the first i whose image is at or after x.
  std::int64_t first_at_or_after(std::int64_t x) const { return base::saturate(ceil_divide(x - offset_, scale_)); }

  /// Walks over the runs of the set for the first `count` values of i. Returns runs relative to lo.
  std::vector<Run> walk(std::int64_t count) const {
    std::vector<Run> runs;
    for (std::int64_t i = lo_; i < lo_ + count;) {
      const std::int64_t x = image(i);
      const std::int64_t member = set_.next(x);
      if (member >= set_.end) break;
      if (member != x) {
        i = first_at_or_after(member);
        continue;
      }
      const std::int64_t stop = std::min(first_at_or_after(set_.run_end(x)), lo_ + count);
      runs.push_back({i - lo_, stop - i});
      i = stop;
    }
    return runs;
  }

  /// Solves scale*i = phase - (phase of the image of lo) modulo stride for each phase of a member for which the gcd
  /// divides the right side.
  std::vector<Run> solve(const Congruence& congruence, std::int64_t period, std::int64_t count) const {
    const Int128 start = modulo(scale_ * lo_ + offset_ - set_.origin, set_.stride);
    std::vector<Run> runs;
    for (const Run& run : layout::period_runs(set_)) {
      Int128 phase = run.begin + modulo(start - run.begin, congruence.divisor);
      for (; phase < Int128{run.begin} + run.length; phase += congruence.divisor) {
        const Int128 i = modulo((phase - start) / congruence.divisor, period) * congruence.inverse % period;
        if (i < count) runs.push_back({static_cast<std::int64_t>(i), 1});
      }
    }
    std::sort(runs.begin(), runs.end(), [](const Run& s, const Run& t) { return s.begin < t.begin; });
    return runs;
  }

  const IndexSet& set_;
  Int128 scale_;
  Int128 offset_;
  std::int64_t lo_;
  std::int64_t hi_;
};

/// Returns the i of [0, n) whose image scale*i + offset is in the set, for a positive scale.
IndexSet find_rising_preimage(const IndexSet& set, Int128 scale, Int128 offset, std::int64_t n) {
  const auto first_in_range = [&](std::int64_t x) { return std::clamp<Int128>(ceil_divide(x - offset, scale), 0, n); };
  const auto lo = static_cast<std::int64_t>(first_in_range(set.begin));
  const auto hi = static_cast<std::int64_t>(first_in_range(set.end));
  if (lo >= hi) return IndexSet::range(lo, lo);
  if (set.contiguous()) return IndexSet::range(lo, hi);
  if (scale == 1) {
    // The images of lo and hi are in the set's range, so the offset fits into 64 bits.
    const auto by = static_cast<std::int64_t>(offset);
    return set.clip(lo + by, hi + by).translate(-by);
  }
  return Preimage(set, scale, offset, lo, hi).find();
}

}  // namespace

IndexSet preimage(const IndexSet& set, std::int64_t scale, std::int64_t offset, std::int64_t n) {
  if (n <= 0) return IndexSet::range(0, 0);
  if (scale > 0) return find_rising_preimage(set, scale, offset, n);
  // The image of i = n - 1 - j increases with j.
  return mirror(find_rising_preimage(set, -Int128{scale}, Int128{scale} * (n - 1) + offset, n), n);
}

IndexSet nest(const IndexSet& outer, const IndexSet& inner) {
  const std::int64_t members = inner.size();
  if (members == 0) return IndexSet::range(outer.begin, outer.begin);
  if (outer.contiguous()) return inner.translate(outer.begin);
  const std::int64_t first = inner.at(0);
  const std::int64_t last = inner.at(members - 1);
  const std::int64_t begin = outer.at(first);
  const std::int64_t end = outer.at(last) + 1;
  if (inner.contiguous()) return outer.clip(begin, end);
  // In positions of the outer set, the outer set repeats after its length and the inner one after its stride.
  const Int128 common = Int128{outer.length} / std::gcd(outer.length, inner.stride) * inner.stride;
  const bool repeats = common <= last - first;
  const std::int64_t positions = repeats ? static_cast<std::int64_t>(common) : last - first + 1;
  std::vector<Run> runs;
  for (std::int64_t q = first; q - first < positions;) {
    const std::int64_t stop = std::min(inner.run_end(q) - first, positions) + first;
    for (std::int64_t x = outer.at(q), remaining = stop - q; remaining > 0;) {
      const std::int64_t length = std::min(outer.run_end(x) - x, remaining);
      runs.push_back({x, length});
      remaining -= length;
      if (remaining > 0) x = outer.next(x + length);
    }
    q = inner.next(stop);
    if (q >= inner.end) break;
  }
  if (!repeats) return IndexSet::of_runs(std::move(runs));
  for (Run& run : runs) run.begin -= begin;
  return layout::periodic(begin, positions / outer.length * outer.stride, std::move(runs), begin, end);
}

IndexSet intersection(const IndexSet& a, const IndexSet& b) {
  if (a.contiguous()) return b.clip(a.begin, a.end);
  if (b.contiguous()) return a.clip(b.begin, b.end);
  const layout::CommonRuns common(a, b);
  if (!common.repeats()) return IndexSet::of_runs(common.find(common.begin(), common.end()));
  std::vector<Run> runs = common.find(common.begin(), common.begin() + common.period());
  for (Run& run : runs) run.begin -= common.begin();
  return layout::periodic(common.begin(), common.period(), std::move(runs), common.begin(), common.end());
}

IndexSet complement(const IndexSet& set, std::int64_t n) {
  const IndexSet inside = set.clip(0, n);
  const std::int64_t members = inside.size();
  if (members == 0) return IndexSet::range(0, n);
  const std::int64_t first = inside.at(0);
  const std::int64_t last = inside.at(members - 1);
  if (inside.contiguous()) return IndexSet::of_runs({{0, first}, {last + 1, n - last - 1}});
  std::vector<Run> runs = layout::period_runs(inside);
  // The complement is periodic only if the set contains all members of its endless pattern in [0, n).
  const IndexSet endless = layout::periodic(inside.origin, inside.stride, runs, 0, n);
  const bool is_periodic = endless.size() == members;
  if (!is_periodic) runs = layout::all_runs(inside);
  // The gap after each run ends at the next one; after the last one it ends at the end of the period, or of the
  // indices.
  std::vector<Run> gaps;
  if (!is_periodic) gaps.push_back({0, first});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::int64_t stop = runs[i].begin + runs[i].length;
    const std::int64_t next = i + 1 < runs.size() ? runs[i + 1].begin : is_periodic ? inside.stride : n;
    gaps.push_back({stop, next - stop});
  }
  if (!is_periodic) return IndexSet::of_runs(std::move(gaps));
  return layout::periodic(inside.origin, inside.stride, std::move(gaps), 0, n);
}

}  // namespace plait
