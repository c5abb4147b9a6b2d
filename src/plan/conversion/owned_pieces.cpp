// The pieces that a set has in common with every coordinate of an owner map, in one walk.
//
// Problem: intersecting a set with each of p coordinates solves p systems of congruences. If the common period is so
// long that each pair has only a few pieces, one walk over the set's runs finds all of them with less work.
//
// Example: 24 indices. The set {0-3, 12-15} is coordinate 0 of cyclic(4) on 3; the map is cyclic(3) on 4. The walk
// visits the stretches [0, 3) of coordinate 0, [3, 4) of 1, [12, 15) of 0 and [15, 16) of 1. Positions in the set are
// 0, 3, 4 and 7. Positions in the owners' sets are 0, 0, 3 and 3, because coordinate 0 owns 0-2 and 12-14, and
// coordinate 1 owns 3-5 and 15-17. Coordinate 0 has the pieces (a 0, b 0) and (a 4, b 3) of 3 indices. They are
// adjacent on side b only, so they stay two pieces.

#include "plan/conversion/owned_pieces.hpp"

#include <algorithm>
#include <numeric>

namespace plait::plan {

bool owner_walk_is_cheaper(const IndexSet& set, const layout::OwnerMap& owner_map) {
  const auto* blocks = dynamic_cast<const layout::BlockOwnerMap*>(&owner_map);
  if (blocks == nullptr || blocks->kind() != Distribution::Kind::kCyclic || set.pattern || set.contiguous())
    return false;
  const auto extent = static_cast<double>(owner_map.extent());
  const auto block = static_cast<double>(blocks->block());
  const auto length = static_cast<double>(set.length);
  const auto runs = static_cast<double>(set.runs());
  const double stretches = runs * (length / block + 1);  // estimated number, each with one owner
  // The cost of each pair is the smaller one of walking and solving; see CommonRuns.
  const double round = extent * block;
  if (round >= static_cast<double>(INT64_MAX)) return false;
  const auto divisor = static_cast<double>(std::gcd(set.stride, blocks->block() * owner_map.extent()));
  const double pair = std::min(runs, (length + block) / divisor + 1);
  constexpr double kStretchCost = 4;  // cost of finding a stretch's owner and positions, in steps of a walk
  return stretches * kStretchCost < std::min(extent, stretches) * pair;
}

std::vector<OwnedPieces> owned_pieces(const IndexSet& set, const layout::OwnerMap& owner_map) {
  struct Stretch {
    std::int64_t coordinate;
    Piece piece;
  };
  std::vector<Stretch> found;
  std::int64_t position = 0;
  for (std::int64_t x = set.next(set.begin); x < set.end;) {
    const std::int64_t stop = set.run_end(x);
    while (x < stop) {
      const std::int64_t coordinate = owner_map.owner(x);
      const IndexSet owners = owner_map.set(coordinate);
      const std::int64_t length = std::min(owners.run_end(x), stop) - x;
      found.push_back({coordinate, {length, 1, position, 0, owners.count_below(x), 0, 0, 0}});
      position += length;
      x += length;
    }
    x = set.next(stop);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Stretch& s, const Stretch& t) { return s.coordinate < t.coordinate; });
  std::vector<OwnedPieces> result;
  for (const Stretch& stretch : found) {
    if (result.empty() || result.back().coordinate != stretch.coordinate) result.push_back({stretch.coordinate, {}});
    Pieces& pieces = result.back().pieces;
    Piece piece = stretch.piece;
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      if (last.a + last.length == piece.a && last.b + last.length == piece.b) {
        last.length += piece.length;
        continue;
      }
      piece.common = last.common + last.length;
    }
    pieces.push_back(piece);
  }
  return result;
}

}  // namespace plait::plan
