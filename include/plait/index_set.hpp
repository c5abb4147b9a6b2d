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
/// One run a period is held in five numbers: the x of [begin, end) with (x - origin) mod stride < length.  All of
/// [begin, end), or nothing, is the case stride == length.  Several runs a period lie in `pattern`, which copies of
/// the set share; a set that does not repeat within its range is one period long.  `begin` is at least `origin`.
/// Below, k is the number of runs in the pattern (1 where there is none).  Sets are values: any number of threads may
/// read one at the same time.
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
  /// The runs of a period where there is more than one, ascending and apart, the first one at phase 0; else null.
  std::shared_ptr<const std::vector<PatternRun>> pattern = nullptr;

  /// The indices begin, begin+1, ..., end-1.
  static IndexSet range(std::int64_t begin, std::int64_t end);
  /// Blocks of `length` each `stride` from `origin` on, below `end`.
  static IndexSet blocks(std::int64_t origin, std::int64_t length, std::int64_t stride, std::int64_t end);
  /// The x of [begin, end) with (x - origin) mod stride in one of the runs (ascending, disjoint, in [0, stride)), in
  /// the simplest form: runs that touch are joined, also around the period; the shortest period is found; a range
  /// that holds fewer runs than a period keeps those only.  cost  O(k).
  static IndexSet periodic(std::int64_t origin, std::int64_t stride, std::vector<Run> runs, std::int64_t begin,
                           std::int64_t end);
  /// Exactly these runs (ascending, disjoint); a period is found where the runs repeat from the first one to the last
  /// one.  cost  O(k).
  static IndexSet of_runs(std::vector<Run> runs);

  /// Whether all indices of [begin, end) are members.  A set of at most one run is always held so.
  bool contiguous() const { return length == stride; }
  /// Number of runs in the pattern.
  std::int64_t pattern_runs() const { return pattern ? static_cast<std::int64_t>(pattern->size()) : 1; }
  /// Number of indices.  cost  O(log k), as all that follows unless it says otherwise.
  std::int64_t size() const { return begin < end ? rank_of(end) : 0; }
  bool empty() const { return size() == 0; }
  /// Number of members below x: the local position of x where x is a member.
  std::int64_t rank_of(std::int64_t x) const;
  bool contains(std::int64_t x) const;
  /// The member with the given local position, 0 <= position < size().
  std::int64_t at(std::int64_t position) const;
  /// The smallest member that is at least x, or `end` if there is none.
  std::int64_t next(std::int64_t x) const;
  /// One past the last member of the run of consecutive members that contains x; at most `end`.
  std::int64_t run_end(std::int64_t x) const;
  /// The members in [lo, hi); the pattern is shared.
  IndexSet clip(std::int64_t lo, std::int64_t hi) const;
  /// The members x + by; the pattern is shared.
  IndexSet translate(std::int64_t by) const;
  /// Number of runs: stretches of consecutive members.
  std::int64_t runs() const;
  /// Members of the longest run, 0 for an empty set.  cost  O(min(k, runs()) log k).
  std::int64_t longest_run() const;

  /// Whether both have the same members, however they are stored.
  /// cost  O(log k) a run in one stride of both, or in the whole range where that is less.
  bool same_members(const IndexSet& other) const;
  /// Whether both are stored in the same way, patterns compared by value.
  bool operator==(const IndexSet& other) const;
};

/// { i in [0, n) : scale*i + offset in set }, scale != 0 of any sign.
/// cost  per period of the result the lesser of: set's runs that the images pass; members of a period of the set,
/// divided by gcd(scale, stride).
IndexSet preimage(const IndexSet& set, std::int64_t scale, std::int64_t offset, std::int64_t n);

/// { outer.at(q) : q in inner }; inner's members are local positions of outer.
/// cost  runs of both in one period of the result, or in the whole set where that is less.
IndexSet nest(const IndexSet& outer, const IndexSet& inner);

/// The common members.  cost  as preimage: runs of one common period (or of the range), walked or solved for.
IndexSet intersection(const IndexSet& a, const IndexSet& b);

/// The indices of [0, n) that are not members.
/// cost  O(k) where the pattern, repeated over all of [0, n), has no further members; else O(runs).
IndexSet complement(const IndexSet& set, std::int64_t n);

}  // namespace plait
