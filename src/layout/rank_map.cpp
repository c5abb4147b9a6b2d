// The assignment of ranks to grid positions.
//
// A position is the number of a grid point in row-major or column-major order; its digits are the coordinates on the
// axes. Example: on the grid (3, 2) the row-major strides are (2, 1), so rank 4 has the coordinates 4 div 2 mod 3 = 2
// and 4 div 1 mod 2 = 0. Column-major strides are (1, 3), and rank 4 has the coordinates (1, 1). A list replaces the
// rank of each position.

#include "layout/rank_map.hpp"

#include <algorithm>
#include <cstdint>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::layout {

RankMap::RankMap(Extents grid, bool is_column_major, Extents list, const Extents& pinned)
    : grid_(std::move(grid)), pinned_(pinned.empty() ? Extents(grid_.size(), -1) : pinned) {
  for (const std::int64_t extent : grid_)
    if (extent < 1)
      base::throw_argument_error("the grid ", base::tuple_text(grid_), " has an extent below 1; use 1 or more");
  positions_ = base::checked_product(grid_, "number of ranks");
  strides_.resize(grid_.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    const std::size_t axis = is_column_major ? i : grid_.size() - 1 - i;
    strides_[axis] = stride;
    stride *= grid_[axis];
    if (pinned_[axis] < 0) size_ *= grid_[axis];
  }
  if (!list.empty()) {
    if (static_cast<std::int64_t>(list.size()) != positions_)
      base::throw_argument_error("ranks lists ", list.size(), " ranks, but the grid ", base::tuple_text(grid_), " has ",
                                 positions_, " positions; give one rank for each");
    auto ranks_list = std::make_shared<List>();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0) base::throw_argument_error("ranks lists the negative rank ", list[i]);
      if (list[i] == INT64_MAX) base::throw_argument_error("ranks lists the rank ", list[i], "; use ranks below it");
      ranks_list->by_rank.emplace_back(list[i], static_cast<std::int64_t>(i));
    }
    std::sort(ranks_list->by_rank.begin(), ranks_list->by_rank.end());
    for (std::size_t i = 1; i < ranks_list->by_rank.size(); ++i)
      if (ranks_list->by_rank[i].first == ranks_list->by_rank[i - 1].first)
        base::throw_argument_error("ranks lists the rank ", ranks_list->by_rank[i].first, " twice, at positions ",
                                   ranks_list->by_rank[i - 1].second, " and ", ranks_list->by_rank[i].second);
    ranks_list->ranks = std::move(list);
    list_ = std::move(ranks_list);
  }
  ranks_end_ = positions_;
  if (size_ != positions_ || list_) {
    // Among the positions that the pins permit, the last one has the largest rank unless ranks are listed.
    Extents last(grid_.size());
    for (std::size_t a = 0; a < grid_.size(); ++a) last[a] = grid_[a] - 1;
    if (list_) {
      ranks_end_ = 0;
      for (const auto& [rank, position] : list_->by_rank)
        if (has(rank)) ranks_end_ = rank + 1;
    } else {
      ranks_end_ = rank_at(last) + 1;
    }
  }
}

std::int64_t RankMap::find_position(std::int64_t rank) const {
  std::int64_t position = rank;
  if (list_) {
    const auto found = std::lower_bound(list_->by_rank.begin(), list_->by_rank.end(), std::pair(rank, std::int64_t{0}));
    if (found == list_->by_rank.end() || found->first != rank) return -1;
    position = found->second;
  }
  if (position < 0 || position >= positions_) return -1;
  if (size_ != positions_)
    for (std::size_t a = 0; a < grid_.size(); ++a)
      if (pinned_[a] >= 0 && position / strides_[a] % grid_[a] != pinned_[a]) return -1;
  return position;
}

Extents RankMap::coordinates(std::int64_t rank) const {
  const std::int64_t position = find_position(rank);
  Extents result(grid_.size());
  for (std::size_t a = 0; a < grid_.size(); ++a) result[a] = position / strides_[a] % grid_[a];
  return result;
}

std::int64_t RankMap::rank_at(const Extents& coordinates) const {
  std::int64_t position = 0;
  for (std::size_t a = 0; a < grid_.size(); ++a)
    position += (pinned_[a] >= 0 ? pinned_[a] : coordinates[a]) * strides_[a];
  return list_ ? list_->ranks[static_cast<std::size_t>(position)] : position;
}

std::vector<std::int64_t> RankMap::ranks() const {
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(size_));
  if (list_) {
    for (const auto& [rank, position] : list_->by_rank)
      if (has(rank)) result.push_back(rank);
  } else {
    for (std::int64_t rank = 0; rank < ranks_end_; ++rank)
      if (size_ == positions_ || has(rank)) result.push_back(rank);
  }
  return result;
}

}  // namespace plait::layout
