/// The arguments of a layout, and the values derived from them.
#pragma once

#include <vector>

#include "layout/owner_map.hpp"
#include "layout/rank_map.hpp"
#include "plait/layout.hpp"

namespace plait::layout {

/// A layout whose arguments have been checked, with all values that its functions need.
struct ResolvedLayout {
  const OwnerMap& owner_map(int dimension) const { return *owner_maps[static_cast<std::size_t>(dimension)]; }

  // Arguments.
  Extents shape;
  std::vector<Distribution> distributions;
  Order ranks = Order::kC;
  LayoutOptions options;

  // Derived values.
  std::int64_t elements = 1;
  RankMap map;
  std::vector<OwnerMapPtr> owner_maps;  // one for each array dimension
  std::vector<std::vector<int>> axes;   // grid axes of each array dimension, major first
  std::vector<int> copied_axes;         // axes whose positions hold copies, slowest first
  std::int64_t replicas = 1;
  std::vector<int> order;  // slowest dimension first
  std::vector<Halo> halo;
  std::vector<bool> periodic;
};

/// The arguments of a layout: see the constructor of Layout.
struct LayoutArguments {
  Extents shape;
  std::vector<Distribution> distributions;
  Extents grid;
  Order ranks;
  Order order;
  LayoutOptions options;
};

/// Checks the arguments and derives the other values.
/// errors  kArgument: as the constructor of Layout.
ResolvedLayout resolve(LayoutArguments arguments);

/// Returns C or Fortran order as a list of dimensions, slowest first.
std::vector<int> dimensions_in(Order order, int dimensions);

}  // namespace plait::layout
