#include "plan/block_size.hpp"

#include <algorithm>
#include <numeric>

namespace plait::plan {

namespace {

using Kind = Distribution::Kind;

/// Where one dimension is cut: at multiples of `block` below the size, or at the listed places.
struct Cuts {
  std::int64_t block = 0;
  Extents places;  // used where block is 0
};

Cuts cuts_of(const Layout& normal, int d) {
  const Distribution& distribution = normal.distributions()[static_cast<std::size_t>(d)];
  const std::int64_t size = normal.shape()[static_cast<std::size_t>(d)];
  const std::int64_t extent = normal.coordinates_in(d);
  switch (distribution.kind) {
    case Kind::kCollapsed:
      return {size, {}};
    case Kind::kCyclic:
      return {distribution.block, {}};
    case Kind::kBlock:
      return {distribution.block != 0 ? distribution.block : std::max<std::int64_t>((size - 1) / extent + 1, 1), {}};
    default: {
      Cuts result;
      for (std::int64_t c = 0; c < extent; ++c) result.places.push_back(normal.index_set(d, c).begin);
      return result;
    }
  }
}

/// The shortest distance of two neighbouring cuts of either side, the ends of the dimension included.
std::int64_t shortest_gap(const Cuts& a, const Cuts& b, std::int64_t size) {
  const auto next = [size](const Cuts& cuts, std::int64_t x) {  // the first cut behind x
    if (cuts.block != 0) {
      const std::int64_t left = cuts.block - x % cuts.block;
      return left < size - x ? x + left : size;
    }
    const auto found = std::upper_bound(cuts.places.begin(), cuts.places.end(), x);
    return found == cuts.places.end() ? size : *found;
  };
  // Behind one period of both the cuts repeat; the rest of the dimension can only add its ragged end.
  const std::int64_t floor = a.block != 0 && b.block != 0 ? std::gcd(a.block, b.block) : 1;
  std::int64_t end = size;
  if (a.block != 0 && b.block != 0 && a.block / floor < size / b.block) end = a.block / floor * b.block;
  std::int64_t shortest = size;
  for (std::int64_t x = 0; x < end && shortest > floor;) {
    const std::int64_t stop = std::min(next(a, x), next(b, x));
    shortest = std::min(shortest, stop - x);
    x = stop;
  }
  if (end < size) {
    const std::int64_t last_a = a.block == 0 ? 0 : (size - 1) / a.block * a.block;
    const std::int64_t last_b = b.block == 0 ? 0 : (size - 1) / b.block * b.block;
    shortest = std::min(shortest, size - std::max(last_a, last_b));
  } else if (a.block != 0 && b.block != 0) {
    const std::int64_t last = std::max((size - 1) / a.block * a.block, (size - 1) / b.block * b.block);
    shortest = std::min(shortest, size - last);
  }
  return shortest;
}

/// The shortest local extent of one dimension on any coordinate that has one.
std::int64_t shortest_extent(const Layout& layout, int d) {
  const std::int64_t size = layout.shape()[static_cast<std::size_t>(d)];
  const Distribution& distribution = layout.distributions()[static_cast<std::size_t>(d)];
  std::int64_t shortest = size;
  for (const std::int64_t part : distribution.sizes)
    if (part > 0) shortest = std::min(shortest, part);
  if (!distribution.sizes.empty()) return shortest;
  // Only the coordinate with the last index has a ragged block; a round robin gives the ones behind it one block less.
  const std::int64_t last = layout.owner(d, size - 1);
  for (const std::int64_t c : {last, (last + 1) % layout.coordinates_in(d)})
    if (const std::int64_t extent = layout.index_set(d, c).size(); extent > 0) shortest = std::min(shortest, extent);
  return shortest;
}

/// Dimensions that are longer than 1 on some rank, fastest first.
std::vector<int> long_dimensions(const Layout& normal) {
  std::vector<int> result;
  for (int i = 0; i < normal.dimensions(); ++i) {
    const int d = normal.order() == Order::kC ? normal.dimensions() - 1 - i : i;
    std::int64_t longest = normal.index_set(d, 0).size();
    const Distribution& distribution = normal.distributions()[static_cast<std::size_t>(d)];
    for (const std::int64_t size : distribution.sizes) longest = std::max(longest, size);
    if (longest > 1) result.push_back(d);
  }
  return result;
}

bool cut_alike(const Layout& a, const Layout& b, int d) {
  return a.distributions()[static_cast<std::size_t>(d)] == b.distributions()[static_cast<std::size_t>(d)] &&
         a.coordinates_in(d) == b.coordinates_in(d);
}

}  // namespace

std::int64_t block_size(const Layout& source, const Layout& target) {
  if (source.elements() == 0) return 0;
  const Layout a = source.normal_form();
  const Layout b = target.normal_form();
  // The normal form prefers C order where the order says nothing about one side; the other side may still need it.
  const std::vector<int> fastest_a = long_dimensions(a);
  const std::vector<int> fastest_b = long_dimensions(b);
  std::int64_t block = 1;
  for (std::size_t i = 0; i < std::min(fastest_a.size(), fastest_b.size()); ++i) {
    const int d = fastest_a[i];
    if (fastest_b[i] != d) return block;
    if (!cut_alike(a, b, d))
      return block * shortest_gap(cuts_of(a, d), cuts_of(b, d), a.shape()[static_cast<std::size_t>(d)]);
    block *= shortest_extent(a, d);
  }
  return block;
}

}  // namespace plait::plan
