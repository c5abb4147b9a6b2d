/// The assignment of ranks to grid positions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/distribution.hpp"

namespace plait::layout {

/// A one-to-one map between ranks and the coordinates on grid axes. If an axis is pinned to one coordinate, only the
/// ranks at that coordinate belong to the map.
/// cost  O(axes); with an explicit list of ranks 16 bytes per rank, and O(log ranks) to find one.
class RankMap {
 public:
  RankMap() = default;
  /// is_column_major: true for column-major ranks, false for row-major ones. A `list` that is not empty contains the
  /// rank of each position in row-major order instead. `pinned` has a coordinate or -1 for each axis, or is empty.
  /// errors  kArgument: a list of another length, with a negative rank or with a repeated one.
  RankMap(Extents grid, bool is_column_major, Extents list, const Extents& pinned);

  const Extents& grid() const { return grid_; }
  /// Returns the number of ranks.
  std::int64_t size() const { return size_; }
  /// Returns one more than the largest rank.
  std::int64_t ranks_end() const { return ranks_end_; }
  bool has(std::int64_t rank) const { return find_position(rank) >= 0; }
  /// Returns the coordinate on each axis; pre: has(rank).
  Extents coordinates(std::int64_t rank) const;
  std::int64_t rank_at(const Extents& coordinates) const;
  /// Returns the difference between ranks whose coordinates on an axis differ by one; only without a list.
  std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  bool has_list() const { return list_ != nullptr; }
  /// Returns all ranks in ascending order.
  /// cost  O(ranks).
  std::vector<std::int64_t> ranks() const;

 private:
  struct List {
    Extents ranks;                                               // the rank at each position
    std::vector<std::pair<std::int64_t, std::int64_t>> by_rank;  // (rank, position), in ascending order
  };
  /// Returns the position number of a rank, -1 if there is none.
  std::int64_t find_position(std::int64_t rank) const;

  Extents grid_;
  Extents strides_;
  Extents pinned_;
  std::int64_t size_ = 1;
  std::int64_t positions_ = 1;
  std::int64_t ranks_end_ = 1;
  std::shared_ptr<const List> list_;
};

}  // namespace plait::layout
