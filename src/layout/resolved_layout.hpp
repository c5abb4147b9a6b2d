/// A layout as it was given, and what follows from it.
#pragma once

#include <vector>

#include "layout/owner_map.hpp"
#include "layout/rank_map.hpp"
#include "plait/layout.hpp"

namespace plait::layout {

struct ResolvedLayout {
  const OwnerMap& owner_map(int dimension) const { return *owner_maps[static_cast<std::size_t>(dimension)]; }

  // As given.
  Extents shape;
  std::vector<Distribution> distributions;
  Order ranks = Order::kC;
  LayoutOptions options;

  // What follows.
  std::int64_t elements = 1;
  RankMap map;
  std::vector<OwnerMapPtr> owner_maps;  // one for each array dimension
  std::vector<std::vector<int>> axes;   // the grid axes of each array dimension, major first
  std::vector<int> copied;              // the axes whose positions hold copies, slowest first
  std::int64_t replicas = 1;
  std::vector<int> order;  // slowest dimension first
  std::vector<Halo> halo;
  std::vector<bool> periodic;
};

/// A layout as it was given: see the constructor of Layout.
struct LayoutArguments {
  Extents shape;
  std::vector<Distribution> distributions;
  Extents grid;
  Order ranks;
  Order order;
  LayoutOptions options;
};

/// errors  kArgument: as the constructor of Layout.
ResolvedLayout resolve(LayoutArguments arguments);

/// C or Fortran order as a list of dimensions.
std::vector<int> dimensions_in(Order order, int dimensions);

}  // namespace plait::layout
