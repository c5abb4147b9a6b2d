// Makes index sets from lists of runs, in their simplest form.
//
// Problem: the same members can be described with several periods and origins, but sets with equal members must be
// stored in the same way.
//
// Idea: runs that touch are joined, and the origin is moved to the first index of a run. A list of runs is a string of
// pairs (length, distance to the beginning of the next run). Its shortest period comes from its longest border, a
// proper suffix that is also a prefix (Knuth, Morris and Pratt): period = length - border.
//
// Example: the runs 0,1 and 6,7 and 12 of [0, 13). The pairs are (2, 6) and (2, 6), the longest border has length 1,
// and the period is one run: length 2, stride 6. The last run has only one index, which is accepted because it is a
// cut-off run of length 2.

#include "layout/index_set/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace plait {

namespace layout {

namespace {

using base::Int128;

/// Joins runs that touch, and removes empty ones.
std::vector<Run> join_touching(std::vector<Run> runs) {
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (run.length <= 0) continue;
    if (count > 0 && runs[count - 1].begin + runs[count - 1].length == run.begin) {
      runs[count - 1].length += run.length;
    } else {
      runs[count++] = run;
    }
  }
  runs.resize(count);
  return runs;
}

/// The length of a run and the distance from its first index to that of the next run.
struct Interval {
  std::int64_t length = 0;
  std::int64_t distance = 0;
  bool operator==(const Interval&) const = default;
};

/// Returns the intervals of all runs but the last.
std::vector<Interval> intervals_between(const std::vector<Run>& runs) {
  std::vector<Interval> intervals;
  intervals.reserve(runs.size());
  for (std::size_t i = 0; i + 1 < runs.size(); ++i)
    intervals.push_back({runs[i].length, runs[i + 1].begin - runs[i].begin});
  return intervals;
}

/// Returns the border of each prefix of the intervals: the length of its longest proper suffix that is a prefix too
/// (Knuth, Morris and Pratt).
std::vector<std::size_t> compute_borders(std::span<const Interval> intervals) {
  std::vector<std::size_t> border(intervals.size() + 1, 0);
  for (std::size_t i = 1, matched = 0; i < intervals.size(); ++i) {
    while (matched > 0 && intervals[i] != intervals[matched]) matched = border[matched];
    if (intervals[i] == intervals[matched]) ++matched;
    border[i + 1] = matched;
  }
  return border;
}

/// Makes the set with these runs in each period, the first one at phase 0.
IndexSet make_set(std::int64_t origin, std::int64_t stride, std::span<const Run> runs, std::int64_t begin,
                  std::int64_t end) {
  IndexSet set{begin, end, origin, runs.front().length, stride};
  if (runs.size() == 1) return set;
  auto pattern = std::make_shared<std::vector<IndexSet::PatternRun>>();
  pattern->reserve(runs.size());
  set.length = 0;
  for (const Run& run : runs) {
    pattern->push_back({run.begin - runs.front().begin, run.length, set.length});
    set.length += run.length;
  }
  set.pattern = std::move(pattern);
  return set;
}

/// Moves the origin to the first index of a run, so that no run touches the end of the period, and shortens the period
/// as far as possible.
void normalize(Int128& origin, std::int64_t& stride, std::vector<Run>& runs) {
  if (runs.size() > 1 && runs.front().begin == 0 && runs.back().begin + runs.back().length == stride) {
    runs.front() = {runs.back().begin - stride, runs.back().length + runs.front().length};
    runs.pop_back();
  }
  const std::int64_t shift = runs.front().begin;
  origin += shift;
  for (Run& run : runs) run.begin -= shift;
  if (runs.size() == 1) return;
  std::vector<Interval> intervals = intervals_between(runs);
  intervals.push_back({runs.back().length, stride - runs.back().begin});
  const std::size_t period = runs.size() - compute_borders(intervals).back();
  if (runs.size() % period != 0 || period == runs.size()) return;
  stride = runs[period].begin;
  runs.resize(period);
}

}  // namespace

IndexSet periodic(Int128 origin, std::int64_t stride, std::vector<Run> runs, std::int64_t begin, std::int64_t end) {
  if (end <= begin) return IndexSet::range(begin, begin);
  runs = join_touching(std::move(runs));
  if (runs.empty()) return IndexSet::range(begin, begin);
  if (runs.front().length == stride) return IndexSet::range(begin, end);
  normalize(origin, stride, runs);
  origin += base::floor_divide(begin - origin, stride) * stride;
  const IndexSet set = make_set(static_cast<std::int64_t>(origin), stride, runs, begin, end);
  IndexSet clipped = set.clip(begin, end);  // a range if it is one run
  if (clipped.contiguous() || clipped.runs() >= set.pattern_runs()) return clipped;
  return IndexSet::of_runs(all_runs(clipped));
}

std::vector<Run> period_runs(const IndexSet& set) {
  if (!set.pattern) return {{0, set.length}};
  std::vector<Run> runs;
  runs.reserve(set.pattern->size());
  for (const IndexSet::PatternRun& run : *set.pattern) runs.push_back({run.begin, run.length});
  return runs;
}

std::vector<Run> all_runs(const IndexSet& set) {
  std::vector<Run> runs;
  for (std::int64_t x = set.next(set.begin); x < set.end;) {
    const std::int64_t stop = set.run_end(x);
    runs.push_back({x, stop - x});
    x = set.next(stop);
  }
  return runs;
}

}  // namespace layout

IndexSet IndexSet::of_runs(std::vector<Run> runs) {
  runs = layout::join_touching(std::move(runs));
  if (runs.empty()) return range(0, 0);
  const std::int64_t begin = runs.front().begin;
  const std::int64_t end = runs.back().begin + runs.back().length;
  if (runs.size() == 1) return range(begin, end);
  // The last run may be the cut-off part of a run of the period. All runs before it must repeat exactly.
  const std::vector<layout::Interval> intervals = layout::intervals_between(runs);
  const std::vector<std::size_t> borders = layout::compute_borders(intervals);
  const std::size_t last = runs.size() - 1;
  std::size_t border = borders[last];
  while (border > 0 && runs[border].length < runs[last].length) border = borders[border];
  const std::size_t period = last - border;
  if (runs[border].length < runs[last].length) return layout::make_set(begin, end - begin, runs, begin, end);
  return layout::make_set(begin, runs[period].begin - begin, std::span(runs).first(period), begin, end);
}

}  // namespace plait
