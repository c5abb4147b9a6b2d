/// All that a set has in common with the coordinates of an owner map, in one walk over the set's runs.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/owner_map.hpp"
#include "plait/index_set.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// One coordinate and its pieces: `a` is the position in the set, `b` that in the coordinate's own index set.
struct OwnedPieces {
  std::int64_t coordinate = 0;
  Pieces pieces;
};

/// Whether the walk takes fewer steps than intersecting the set with each coordinate that it meets: where periods are
/// so long that every pair has a few pieces of its own only.
bool owner_walk_is_cheaper(const IndexSet& set, const layout::OwnerMap& owner_map);

/// Ascending by coordinate.
/// cost  O(stretches of the set that have one owner, times log of them).
std::vector<OwnedPieces> owned_pieces(const IndexSet& set, const layout::OwnerMap& owner_map);

}  // namespace plait::plan
