// Arithmetic on index sets, without a list of their members.
//
// A set is the part in [begin, end) of an endless pattern: runs of `length` indices (or the runs of `pattern`)
// repeated every `stride` indices from `origin` on. An index is split into its period and its phase within it, both
// counted from the origin; a member into its period and its number within the period.
//
// Example: cyclic(2) on 3 coordinates, coordinate 0: origin 0, length 2, stride 6, members 0, 1, 6, 7, 12, ...
// count_below(7): 7 is in period 1 at phase 1, so 1 * 2 + 1 = 3 members are below it. at(3): member 3 is in period 3
// div 2 = 1 with number 1, so it is 1 * 6 + 1 = 7. next(8): phase 2 is in the gap, so the next member is 6 - 2 = 4
// further on, at 12.

#include "plait/index_set.hpp"

#include <algorithm>

#include "base/int128.hpp"
#include "layout/index_set/pattern.hpp"

namespace plait {

namespace {

using PatternRun = IndexSet::PatternRun;

/// Returns x - origin. The origin may be a stride below zero, so a signed difference could overflow.
std::uint64_t distance_from_origin(const IndexSet& set, std::int64_t x) {
  return static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(set.origin);
}

std::uint64_t to_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Returns the last run of a pattern that begins at or before a phase.
const PatternRun& run_at(const IndexSet& set, std::int64_t phase) {
  const auto after = std::upper_bound(set.pattern->begin(), set.pattern->end(), phase,
                                      [](std::int64_t x, const PatternRun& run) { return x < run.begin; });
  return *std::prev(after);
}

/// The position of an index: its period, and its phase in the period.
struct PeriodPosition {
  std::uint64_t period = 0;
  std::int64_t phase = 0;
};

PeriodPosition find_position(const IndexSet& set, std::int64_t x) {
  const std::uint64_t offset = distance_from_origin(set, x);
  return {offset / to_unsigned(set.stride), static_cast<std::int64_t>(offset % to_unsigned(set.stride))};
}

/// Returns the number of members of the endless pattern in [origin, x).
std::uint64_t members_below(const IndexSet& set, std::int64_t x) {
  if (x == set.origin) return 0;
  const PeriodPosition position = find_position(set, x);
  std::int64_t within = 0;
  if (set.pattern) {
    const PatternRun& run = run_at(set, position.phase);
    within = run.before + std::min(position.phase - run.begin, run.length);
  } else {
    within = std::min(position.phase, set.length);
  }
  return position.period * to_unsigned(set.length) + to_unsigned(within);
}

/// Returns the number of the run of the endless pattern that begins at or before x.
std::uint64_t run_number(const IndexSet& set, std::int64_t x) {
  const PeriodPosition position = find_position(set, x);
  if (!set.pattern) return position.period;
  return position.period * set.pattern->size() + to_unsigned(&run_at(set, position.phase) - set.pattern->data());
}

/// Returns the set, as a range if it has at most one run.
IndexSet simplify(IndexSet set) {
  // A member and the one a period later are in different runs.
  if ((set.end - set.begin) / 2 >= set.stride) return set;
  const std::int64_t first = set.next(set.begin);
  if (first >= set.end) return IndexSet::range(set.begin, set.begin);
  const std::int64_t stop = set.run_end(first);
  return set.next(stop) >= set.end ? IndexSet::range(first, stop) : set;
}

}  // namespace

IndexSet IndexSet::range(std::int64_t begin, std::int64_t end) {
  const std::int64_t length = std::max<std::int64_t>(end - begin, 1);
  return {begin, std::max(begin, end), begin, length, length};
}

IndexSet IndexSet::blocks(std::int64_t origin, std::int64_t length, std::int64_t stride, std::int64_t end) {
  if (length == stride || end <= origin) return range(origin, end);
  if (end - origin <= stride) return range(origin, end - origin < length ? end : origin + length);
  return {origin, end, origin, length, stride};
}

IndexSet IndexSet::periodic(std::int64_t origin, std::int64_t stride, std::vector<Run> runs, std::int64_t begin,
                            std::int64_t end) {
  return layout::periodic(origin, stride, std::move(runs), begin, end);
}

std::int64_t IndexSet::count_below(std::int64_t x) const {
  x = std::clamp(x, begin, end);
  if (contiguous()) return x - begin;
  return static_cast<std::int64_t>(members_below(*this, x) - members_below(*this, begin));
}

bool IndexSet::contains(std::int64_t x) const {
  if (x < begin || x >= end) return false;
  if (contiguous()) return true;
  const std::int64_t phase = find_position(*this, x).phase;
  if (!pattern) return phase < length;
  const PatternRun& run = run_at(*this, phase);
  return phase - run.begin < run.length;
}

std::int64_t IndexSet::at(std::int64_t position) const {
  if (contiguous()) return begin + position;
  const std::uint64_t member = to_unsigned(position) + members_below(*this, begin);
  const std::uint64_t period = member / to_unsigned(length) * to_unsigned(stride);
  const auto within = static_cast<std::int64_t>(member % to_unsigned(length));
  std::int64_t phase = within;
  if (pattern) {
    const auto after = std::upper_bound(pattern->begin(), pattern->end(), within,
                                        [](std::int64_t m, const PatternRun& run) { return m < run.before; });
    const PatternRun& run = *std::prev(after);
    phase = run.begin + within - run.before;
  }
  return static_cast<std::int64_t>(to_unsigned(origin) + period + to_unsigned(phase));
}

std::int64_t IndexSet::next(std::int64_t x) const {
  x = std::max(x, begin);
  if (x >= end) return end;
  if (contiguous()) return x;
  const std::int64_t phase = find_position(*this, x).phase;
  std::int64_t gap = 0;
  if (pattern) {
    const PatternRun* run = &run_at(*this, phase);
    if (phase - run->begin < run->length) return x;
    gap = (run == &pattern->back() ? stride : (run + 1)->begin) - phase;
  } else {
    if (phase < length) return x;
    gap = stride - phase;
  }
  return gap < end - x ? x + gap : end;
}

std::int64_t IndexSet::run_end(std::int64_t x) const {
  if (contiguous()) return end;
  const std::int64_t phase = find_position(*this, x).phase;
  std::int64_t remaining = length - phase;
  if (pattern) {
    const PatternRun& run = run_at(*this, phase);
    remaining = run.begin + run.length - phase;
  }
  return remaining < end - x ? x + remaining : end;
}

IndexSet IndexSet::clip(std::int64_t lo, std::int64_t hi) const {
  lo = std::max(begin, lo);
  hi = std::max(lo, std::min(end, hi));
  if (contiguous()) return range(lo, hi);
  IndexSet result = *this;
  result.begin = lo;
  result.end = hi;
  return simplify(std::move(result));
}

IndexSet IndexSet::translate(std::int64_t by) const {
  IndexSet result = *this;
  result.begin += by;
  result.end += by;
  base::Int128 new_origin = base::Int128{origin} + by;
  // Only begin and end must fit into 64 bits after the translation. An origin that would be too small moves up by
  // whole periods.
  if (new_origin < INT64_MIN) new_origin += (result.begin - new_origin) / stride * stride;
  result.origin = static_cast<std::int64_t>(new_origin);
  return result;
}

std::int64_t IndexSet::runs() const {
  const std::int64_t members = size();
  if (members == 0) return 0;
  if (contiguous()) return 1;
  return static_cast<std::int64_t>(run_number(*this, at(members - 1)) - run_number(*this, at(0)) + 1);
}

std::int64_t IndexSet::longest_run() const {
  if (contiguous()) return end - begin;
  // The first run may be cut off. The k runs of a period after it include every length that occurs.
  std::int64_t longest = 0;
  std::int64_t x = next(begin);
  for (std::int64_t visited_runs = 0; visited_runs <= pattern_runs() && x < end; ++visited_runs) {
    const std::int64_t stop = run_end(x);
    longest = std::max(longest, stop - x);
    x = next(stop);
  }
  return longest;
}

bool IndexSet::same_members(const IndexSet& other) const {
  const std::int64_t members = size();
  if (members != other.size()) return false;
  if (members == 0) return true;
  std::int64_t x = at(0);
  if (x != other.at(0) || at(members - 1) != other.at(members - 1)) return false;
  if (contiguous() || other.contiguous()) return contiguous() == other.contiguous();
  // Two sequences with periods p and q that agree on p + q elements agree everywhere (Fine and Wilf).
  const std::int64_t last = at(members - 1);
  const std::int64_t stop = base::saturate(std::min<base::Int128>(last, base::Int128{x} + stride + other.stride));
  while (x <= stop) {
    const std::int64_t after = run_end(x);
    if (after != other.run_end(x)) return false;
    if (after > last) return true;
    x = next(after);
    if (x != other.next(after)) return false;
  }
  return true;
}

bool IndexSet::operator==(const IndexSet& other) const {
  if (begin != other.begin || end != other.end || origin != other.origin || length != other.length ||
      stride != other.stride)
    return false;
  return pattern == other.pattern || (pattern && other.pattern && *pattern == *other.pattern);
}

}  // namespace plait
