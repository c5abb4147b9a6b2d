// Computes the expected results of layouts and conversions element by element, without the library's arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "plait/conversion.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"

namespace oracle {

using plait::Distribution;
using plait::Extents;
using plait::IndexSet;
using plait::Layout;
using plait::Order;

// Sanitizers make tests at least ten times slower. With them, enumerations take only every 127th case; a prime number
// selects cases of all kinds.
#if defined(PLAIT_SANITIZE_ADDRESS) || defined(PLAIT_SANITIZE_THREAD)
inline constexpr bool kSanitized = true;
inline constexpr std::int64_t kThinning = 127;
#else
inline constexpr bool kSanitized = false;
inline constexpr std::int64_t kThinning = 1;
#endif

/// Returns true in the thorough run that the second level of tests adds for a few long suites (cmake/PlaitTests.cmake).
inline bool is_thorough() { return std::getenv("PLAIT_TEST_THOROUGH") != nullptr; }

/// Returns n; the enumerations of these suites take only every n-th case.
inline std::int64_t sample_interval() { return kSanitized || is_thorough() ? kThinning : 5; }

/// Converts an index to the type that containers take, without a compiler warning.
inline std::size_t to_size_t(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Returns the indices of a set, computed from the definition of its fields alone.
inline Extents list_indices(const IndexSet& set) {
  Extents result;
  for (std::int64_t x = set.begin; x < set.end; ++x) {
    const std::int64_t phase = (x - set.origin) % set.stride;
    bool member = !set.pattern && phase < set.length;
    if (set.pattern)
      for (const IndexSet::PatternRun& run : *set.pattern)
        member = member || (phase >= run.begin && phase < run.begin + run.length);
    if (member) result.push_back(x);
  }
  return result;
}

/// Returns the grid coordinate that owns each index of a dimension of `size` indices over `extent` coordinates.
inline Extents owner_map(const Distribution& distribution, std::int64_t size, std::int64_t extent) {
  Extents owners;
  const auto append_owner = [&](std::int64_t coordinate, std::int64_t count) {
    for (std::int64_t i = 0; i < count && static_cast<std::int64_t>(owners.size()) < size; ++i)
      owners.push_back(coordinate);
  };
  switch (distribution.kind) {
    case Distribution::Kind::kCollapsed: append_owner(0, size); break;
    case Distribution::Kind::kBlock: {
      std::int64_t block = distribution.block;
      if (block == 0)
        while (block * extent < size) ++block;
      for (std::int64_t c = 0; c < extent; ++c) append_owner(c, block);
      break;
    }
    case Distribution::Kind::kIndirect:
      for (const plait::OwnerRun& run : distribution.owners) append_owner(run.owner, run.count);
      break;
    case Distribution::Kind::kCyclic:
      for (std::int64_t c = 0; static_cast<std::int64_t>(owners.size()) < size; c = (c + 1) % extent)
        append_owner(c, distribution.block);
      break;
    case Distribution::Kind::kBalanced:
      for (std::int64_t c = 0, remaining = size; c < extent; ++c) {
        std::int64_t share = 0;  // the remaining indices over the remaining coordinates, rounded up
        while (share * (extent - c) < remaining) ++share;
        append_owner(c, share);
        remaining -= share;
      }
      break;
    case Distribution::Kind::kGenBlock:
      for (std::int64_t c = 0; c < extent; ++c) append_owner(c, distribution.sizes[to_size_t(c)]);
      break;
  }
  return owners;
}

/// The position of one element.
struct Position {
  std::int64_t rank = 0;
  std::int64_t offset = 0;  // in the rank's local array
  bool operator==(const Position&) const = default;
};

/// Where a layout stores each element.
struct ArrayMap {
  std::vector<Position> positions;            // one for each element, in C order of the global index
  std::vector<Extents> local_shapes;          // one for each rank
  std::vector<std::vector<Extents>> indices;  // for each rank, its indices of each dimension
  bool operator==(const ArrayMap&) const = default;
};

/// Returns the grid coordinates of each rank, one for each distributed dimension.
inline std::vector<Extents> grid_positions(const Extents& grid, Order ranks) {
  std::int64_t total = 1;
  for (const std::int64_t extent : grid) total *= extent;
  std::vector<Extents> result;
  Extents position(grid.size(), 0);
  for (std::int64_t rank = 0; rank < total; ++rank) {
    result.push_back(position);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const std::size_t g = ranks == Order::kC ? grid.size() - 1 - i : i;
      if (++position[g] < grid[g]) break;
      position[g] = 0;
    }
  }
  return result;
}

/// Calls visit(index) for each element of an array in C order.
template <typename Visit>
void for_each_index(const Extents& shape, Visit&& visit) {
  for (const std::int64_t size : shape)
    if (size == 0) return;
  Extents index(shape.size(), 0);
  while (true) {
    visit(static_cast<const Extents&>(index));
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// Returns the position of an index in a dense array.
inline std::int64_t dense_offset(const Extents& index, const Extents& shape, Order order) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = order == Order::kC ? i : shape.size() - 1 - i;
    offset = offset * shape[d] + index[d];
  }
  return offset;
}

/// Returns the order of a layout, which must be C or Fortran order.
inline Order storage_order(const Layout& layout) {
  return std::is_sorted(layout.order().begin(), layout.order().end()) ? Order::kC : Order::kFortran;
}

/// Computes where a layout stores each element: the owner of each index per dimension, then rank and offset.
inline ArrayMap make_map(const Layout& layout) {
  const std::size_t dimensions = layout.shape().size();
  std::vector<Extents> owners(dimensions);  // coordinate of each index
  std::vector<Extents> local(dimensions);   // position of each index among the indices of its coordinate
  std::vector<Extents> counts(dimensions);  // number of indices of each coordinate
  std::vector<std::ptrdiff_t> grid_axis(dimensions, -1);
  std::ptrdiff_t axis = 0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const Distribution& distribution = layout.distributions()[d];
    const bool collapsed = distribution.kind == Distribution::Kind::kCollapsed;
    const std::vector<int>& copies = layout.options().replicate;
    while (std::find(copies.begin(), copies.end(), static_cast<int>(axis)) != copies.end()) ++axis;
    if (!collapsed) grid_axis[d] = distribution.axes.empty() ? axis++ : distribution.axes[0];
    const std::int64_t extent = collapsed ? 1 : layout.grid()[to_size_t(grid_axis[d])];
    owners[d] = owner_map(distribution, layout.shape()[d], extent);
    counts[d].assign(to_size_t(extent), 0);
    for (const std::int64_t owner : owners[d]) local[d].push_back(counts[d][to_size_t(owner)]++);
  }
  ArrayMap map;
  const std::vector<Extents> ranks = grid_positions(layout.grid(), layout.ranks());
  for (const Extents& position : ranks) {
    Extents shape(dimensions);
    std::vector<Extents> indices(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::int64_t coordinate = grid_axis[d] < 0 ? 0 : position[to_size_t(grid_axis[d])];
      shape[d] = counts[d][to_size_t(coordinate)];
      for (std::size_t i = 0; i < owners[d].size(); ++i)
        if (owners[d][i] == coordinate) indices[d].push_back(static_cast<std::int64_t>(i));
    }
    map.local_shapes.push_back(shape);
    map.indices.push_back(indices);
  }
  // The rank at each grid position; the index is the position's number in C order.
  std::vector<std::int64_t> rank_at(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    rank_at[to_size_t(dense_offset(ranks[rank], layout.grid(), Order::kC))] = static_cast<std::int64_t>(rank);
  Extents grid_position(layout.grid().size());
  Extents local_index(dimensions);
  for_each_index(layout.shape(), [&](const Extents& index) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (grid_axis[d] >= 0) grid_position[to_size_t(grid_axis[d])] = owners[d][to_size_t(index[d])];
      local_index[d] = local[d][to_size_t(index[d])];
    }
    const std::int64_t rank = rank_at[to_size_t(dense_offset(grid_position, layout.grid(), Order::kC))];
    map.positions.push_back(
        {rank, dense_offset(local_index, map.local_shapes[to_size_t(rank)], storage_order(layout))});
  });
  return map;
}

/// The size of the message from one rank to another.
struct Traffic {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t elements = 0;
  std::int64_t runs = 0;
  bool operator==(const Traffic&) const = default;
};

/// What the library's conversion between two layouts must have.
struct Conversion {
  std::vector<Traffic> traffic;   // sorted by sender, then by receiver
  std::int64_t shortest_run = 0;  // 0 if nothing is transferred
};

/// Lists the transfer of every element, and counts transfers that are consecutive on both sides as one run.
inline Conversion expected_conversion(const ArrayMap& source, const ArrayMap& target) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> transfers;
  for (std::size_t i = 0; i < source.positions.size(); ++i)
    transfers.emplace_back(source.positions[i].rank, target.positions[i].rank, source.positions[i].offset,
                           target.positions[i].offset);
  std::sort(transfers.begin(), transfers.end());
  Conversion result;
  std::int64_t run = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto& [from, to, source_offset, target_offset] = transfers[i];
    const bool same_pair = i > 0 && std::get<0>(transfers[i - 1]) == from && std::get<1>(transfers[i - 1]) == to;
    const bool same_run = same_pair && std::get<2>(transfers[i - 1]) + 1 == source_offset &&
                          std::get<3>(transfers[i - 1]) + 1 == target_offset;
    if (!same_pair) result.traffic.push_back({from, to, 0, 0});
    ++result.traffic.back().elements;
    if (!same_run) {
      if (run > 0) result.shortest_run = result.shortest_run == 0 ? run : std::min(result.shortest_run, run);
      ++result.traffic.back().runs;
      run = 0;
    }
    ++run;
  }
  if (run > 0) result.shortest_run = result.shortest_run == 0 ? run : std::min(result.shortest_run, run);
  return result;
}

/// Returns the text of a layout as its arguments state it; to_string() would print its normal form.
inline std::string describe(const Layout& layout) { return plait::spelling(layout); }

/// Runs `call` and expects an argument error whose message contains `part`.
template <typename Call>
void expect_rejected(Call&& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "expected an error with: " << part;
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "the message is: " << error.what() << "\nexpected in it: " << part;
  }
}

/// Returns various distributions for one dimension on `extent` coordinates; all of them are valid.
inline std::vector<Distribution> distributions_for(std::int64_t size, std::int64_t extent, std::int64_t max_cyclic) {
  std::vector<Distribution> result{Distribution::blocked(), Distribution::balanced()};
  const std::int64_t min_block = (size + extent - 1) / extent;
  for (const std::int64_t block : {min_block, min_block + 1, size, size + 3})
    if (block > 0 && block >= min_block) result.push_back(Distribution::blocked(block));
  for (std::int64_t k = 1; k <= max_cyclic; ++k) result.push_back(Distribution::cyclic(k));
  // Uneven blocks: coordinate c owns c + 1 indices; only the last coordinate owns any; every other coordinate owns
  // none.
  Extents rising(to_size_t(extent), 0);
  Extents last_only(to_size_t(extent), 0);
  Extents holes(to_size_t(extent), 0);
  std::int64_t remaining = size;
  for (std::int64_t c = 0; c < extent; ++c) {
    const std::int64_t share = c + 1 == extent ? remaining : std::min(remaining, c + 1);
    rising[to_size_t(c)] = share;
    remaining -= share;
  }
  last_only[to_size_t(extent - 1)] = size;
  remaining = size;
  for (std::int64_t c = extent % 2 == 0 ? 1 : 0; c < extent; c += 2) {
    const std::int64_t share = c + 2 >= extent ? remaining : std::min<std::int64_t>(remaining, 2);
    holes[to_size_t(c)] = share;
    remaining -= share;
  }
  for (const Extents& sizes : {rising, last_only, holes}) result.push_back(Distribution::gen_block(sizes));
  return result;
}

}  // namespace oracle
