/// The indices that a set has in common with each coordinate of an owner map, which states the owner of every index of
/// a dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/owner_map.hpp"
#include "plait/index_set.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// One coordinate and its pieces: `a` is the position in the set, `b` the position in the coordinate's own index set.
struct OwnedPieces {
  std::int64_t coordinate = 0;
  Pieces pieces;
};

/// True if owned_pieces() takes fewer steps than an intersection of the set with each coordinate that owns some of its
/// indices. This is the case if the common period is so long that every intersection has only a few pieces.
bool owner_walk_is_cheaper(const IndexSet& set, const layout::OwnerMap& owner_map);

/// Returns the coordinates that own an index of the set, ascending, with their pieces.
/// cost    O(s log s) for s stretches of the set that have one owner.
std::vector<OwnedPieces> owned_pieces(const IndexSet& set, const layout::OwnerMap& owner_map);

}  // namespace plait::plan
