/// Index sets: the indices of one dimension that one grid coordinate owns.
#pragma once

#include <cstdint>

namespace plait {

/// The indices x of [begin, end) with (x - origin) mod stride < length: equal blocks at equal distances, cut off at
/// both ends.  One block is the case stride == length; `begin` lies at or behind `origin`.  Never a list: 40 bytes
/// whatever the number of indices, and every function below costs O(1).
struct IndexSet {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t origin = 0;
  std::int64_t length = 1;
  std::int64_t stride = 1;

  /// The indices begin, begin+1, ..., end-1.
  static IndexSet range(std::int64_t begin, std::int64_t end);
  /// Blocks of `length` each `stride` from `origin` on, below `end`.
  static IndexSet blocks(std::int64_t origin, std::int64_t length, std::int64_t stride, std::int64_t end);

  bool contiguous() const { return length == stride; }
  /// Number of indices.
  std::int64_t size() const { return begin < end ? rank_of(end) : 0; }
  bool empty() const { return size() == 0; }
  /// Number of members below x, for begin <= x <= end: the local place of x where x is a member.
  std::int64_t rank_of(std::int64_t x) const;
  bool contains(std::int64_t x) const;
  /// The member with the given local place, 0 <= place < size().
  std::int64_t at(std::int64_t place) const;
  /// The smallest member at or behind x, or `end` where there is none.
  std::int64_t next(std::int64_t x) const;
  /// The members in [lo, hi).
  IndexSet clip(std::int64_t lo, std::int64_t hi) const;
  /// Number of stretches of consecutive members.
  std::int64_t runs() const;

  bool operator==(const IndexSet&) const = default;
};

}  // namespace plait
