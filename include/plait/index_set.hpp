/// Index sets: the indices of one dimension that one grid coordinate owns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace plait {

/// The indices begin, begin+1, ..., begin+length-1.
struct Run {
  std::int64_t begin = 0;
  std::int64_t length = 0;

  bool operator==(const Run&) const = default;
};

/// A pattern of runs that repeats every `stride` indices from `origin` on, cut off at `begin` and `end`.
///
/// One run per period is stored in five numbers: the x of [begin, end) with (x - origin) mod stride < length.  If
/// stride == length, the set is [begin, end) or empty.  Several runs per period are in `pattern`, which copies of the
/// set share.  A set that does not repeat within its range is one period long.  `begin` is at least `origin`.  Below, k
/// is the number of runs in the pattern (1 if there is none).  Sets are values: any number of threads may read one at
/// the same time.
///
/// limits  indices, sizes and strides up to 2^63 - 1; `end - begin` fits 64 bits too.
struct IndexSet {
  /// A run of the period: phases [begin, begin + length), with `before` members of the period below them.
  struct PatternRun {
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t before = 0;

    bool operator==(const PatternRun&) const = default;
  };

  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t origin = 0;
  std::int64_t length = 1;  ///< Members of one period.
  std::int64_t stride = 1;
  /// The runs of a period if there are several, ascending and not adjacent, the first one at phase 0; else null.
  std::shared_ptr<const std::vector<PatternRun>> pattern = nullptr;

  /// Returns the indices begin, begin+1, ..., end-1.
  static IndexSet range(std::int64_t begin, std::int64_t end);
  /// Returns blocks of `length` indices, one every `stride` from `origin` on, below `end`.
  static IndexSet blocks(std::int64_t origin, std::int64_t length, std::int64_t stride, std::int64_t end);
  /// Returns the x of [begin, end) with (x - origin) mod stride in one of the runs (ascending, disjoint, in [0,
  /// stride)), in the simplest form: adjacent runs are joined, also across the end of a period; the shortest
  /// period is found; if the range holds fewer runs than a period, only those are stored.  cost  O(k).
  static IndexSet periodic(std::int64_t origin, std::int64_t stride, std::vector<Run> runs, std::int64_t begin,
                           std::int64_t end);
  /// Returns exactly these runs (ascending, disjoint).  Finds a period if the runs repeat from the first one to the
  /// last one.  cost  O(k).
  static IndexSet of_runs(std::vector<Run> runs);

  /// True if all indices of [begin, end) are members.  A set of at most one run is always stored in this form.
  bool contiguous() const { return length == stride; }
  /// Returns the number of runs in the pattern.
  std::int64_t pattern_runs() const { return pattern ? static_cast<std::int64_t>(pattern->size()) : 1; }
  /// Returns the number of indices.  cost  O(log k), as for all functions below unless stated otherwise.
  std::int64_t size() const { return begin < end ? count_below(end) : 0; }
  bool empty() const { return size() == 0; }
  /// Returns the number of members below x, which is the local position of x if x is a member.
  std::int64_t count_below(std::int64_t x) const;
  bool contains(std::int64_t x) const;
  /// Returns the member with the given local position, 0 <= position < size().
  std::int64_t at(std::int64_t position) const;
  /// Returns the smallest member that is at least x, or `end` if there is none.
  std::int64_t next(std::int64_t x) const;
  /// Returns one past the last member of the run of consecutive members that contains x; at most `end`.
  std::int64_t run_end(std::int64_t x) const;
  /// Returns the members in [lo, hi).  The pattern is shared.
  IndexSet clip(std::int64_t lo, std::int64_t hi) const;
  /// Returns the set of all x + by for members x.  The pattern is shared.
  IndexSet translate(std::int64_t by) const;
  /// Returns the number of runs: maximal sequences of consecutive members.
  std::int64_t runs() const;
  /// Returns the number of members of the longest run, 0 for an empty set.  cost  O(min(k, runs()) log k).
  std::int64_t longest_run() const;

  /// True if both have the same members, even if they are stored differently.
  /// cost    O(log k) per run in one stride of both, or in the whole range if that is less.
  bool same_members(const IndexSet& other) const;
  /// True if both are stored in the same way.  Patterns are compared by value.
  bool operator==(const IndexSet& other) const;
};

/// Returns { i in [0, n) : scale*i + offset in set }, scale != 0 of any sign.
/// cost    Per period of the result the smaller one of: the set's runs that the images pass; the members of a period of
///         the set, divided by gcd(scale, stride).
IndexSet preimage(const IndexSet& set, std::int64_t scale, std::int64_t offset, std::int64_t n);

/// Returns { outer.at(q) : q in inner }. The members of `inner` are local positions of `outer`.
/// cost    The runs of both in one period of the result, or in the whole set if that is less.
IndexSet nest(const IndexSet& outer, const IndexSet& inner);

/// Returns the common members.
/// cost    The runs of both sets in one common period, or in the whole range if that is less, or the solutions of one
///         equation for each pair of runs if those are fewer.
IndexSet intersection(const IndexSet& a, const IndexSet& b);

/// Returns the indices of [0, n) that are not members.
/// cost    O(k) if the pattern, repeated over all of [0, n), has no further members; else O(runs).
IndexSet complement(const IndexSet& set, std::int64_t n);

}  // namespace plait
