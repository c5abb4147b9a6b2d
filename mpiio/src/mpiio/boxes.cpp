// Finds the layout in which each rank owns its box.
//
// Problem: each rank knows one box of an array. Only the boxes of all ranks show whether the array is distributed over
// a grid.
//
// Idea: in each dimension, collect the distinct intervals of the boxes. If these follow each other without gaps or
// overlaps, they divide the dimension as the distribution gen_block does; if each combination of intervals is the box
// of exactly one rank, the ranks form a grid.
//
// Example: ranks 0 to 3 have the boxes [0:5, 0:2], [0:5, 2:6], [5:8, 0:2] and [5:8, 2:6]. Dimension 0 has the intervals
// [0:5] and [5:8], dimension 1 [0:2] and [2:6]; the layout is (gen_block(5, 3), gen_block(2, 4)) onto (2, 2).

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "mpiio/shared_array.hpp"

namespace plait::mpiio {

namespace {

/// The intervals of one dimension: sizes by their starts.
using Intervals = std::map<std::int64_t, std::int64_t>;

/// Returns the intervals of a dimension; nothing if they overlap or leave a gap.
std::optional<Intervals> find_intervals(const std::vector<Box>& boxes, std::size_t dimension) {
  Intervals found;
  for (const Box& box : boxes) {
    const auto [at, is_new] = found.emplace(box.starts[dimension], box.sizes[dimension]);
    if (!is_new && at->second != box.sizes[dimension]) return std::nullopt;
  }
  std::int64_t end = found.begin()->first;
  for (const auto& [start, size] : found) {
    if (start != end) return std::nullopt;
    end = start + size;
  }
  return found;
}

/// Returns the rank of each position of the grid of intervals, in row-major order; nothing unless each has exactly one.
std::optional<Extents> find_ranks(const std::vector<Box>& boxes, const std::vector<Intervals>& intervals) {
  std::size_t positions = 1;
  for (const Intervals& dimension : intervals) {
    positions *= dimension.size();
    if (positions > boxes.size()) return std::nullopt;
  }
  if (positions != boxes.size()) return std::nullopt;
  Extents ranks(positions, -1);
  for (const Box& box : boxes) {
    std::size_t position = 0;
    for (std::size_t d = 0; d < intervals.size(); ++d) {
      const auto before = std::distance(intervals[d].begin(), intervals[d].find(box.starts[d]));
      position = position * intervals[d].size() + static_cast<std::size_t>(before);
    }
    if (ranks[position] != -1) return std::nullopt;
    ranks[position] = box.rank;
  }
  return ranks;
}

/// Returns the layout in which all ranks own the same box.
Tiling make_replicas(const std::vector<Box>& boxes, Order order) {
  const Box& box = boxes.front();
  Tiling tiling;
  LayoutOptions options;
  for (const Box& one : boxes) options.rank_list.push_back(one.rank);
  options.replicate = {0};
  for (std::size_t d = 0; d < box.sizes.size(); ++d) tiling.region.push_back({box.starts[d], box.sizes[d]});
  const std::vector<Distribution> whole(box.sizes.size(), Distribution::collapsed());
  const Extents grid{static_cast<std::int64_t>(boxes.size())};
  tiling.layout = Layout(box.sizes, whole, grid, Order::kC, order, std::move(options));
  return tiling;
}

}  // namespace

std::optional<Tiling> tile(const std::vector<Box>& boxes, Order order) {
  if (boxes.empty()) return std::nullopt;
  const Box& first = boxes.front();
  if (std::ranges::all_of(boxes,
                          [&](const Box& box) { return box.starts == first.starts && box.sizes == first.sizes; }))
    return make_replicas(boxes, order);
  std::vector<Intervals> intervals;
  for (std::size_t d = 0; d < first.starts.size(); ++d) {
    std::optional<Intervals> found = find_intervals(boxes, d);
    if (!found) return std::nullopt;
    intervals.push_back(std::move(*found));
  }
  const std::optional<Extents> ranks = find_ranks(boxes, intervals);
  if (!ranks) return std::nullopt;
  Tiling tiling;
  std::vector<Distribution> distributions;
  Extents shape;
  Extents grid;
  for (const Intervals& dimension : intervals) {
    Extents sizes;
    for (const auto& [start, size] : dimension) sizes.push_back(size);
    shape.push_back(std::reduce(sizes.begin(), sizes.end()));
    tiling.region.push_back({dimension.begin()->first, shape.back()});
    if (sizes.size() == 1) {
      distributions.push_back(Distribution::collapsed());
      continue;
    }
    grid.push_back(static_cast<std::int64_t>(sizes.size()));
    distributions.push_back(Distribution::gen_block(std::move(sizes)));
  }
  LayoutOptions options;
  options.rank_list = *ranks;
  tiling.layout = Layout(shape, distributions, grid, Order::kC, order, std::move(options));
  return tiling;
}

}  // namespace plait::mpiio
