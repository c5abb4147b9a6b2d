/// The common indices of two index sets, as pieces that repeat.  Every conversion between layouts is made of such
/// intersections, one for each dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/index_set/congruence.hpp"
#include "plait/index_set.hpp"

namespace plait::plan {

/// `count` stretches of `length` positions that are consecutive in both sets.  Stretch t (from 0) begins at position
/// `a + t*a_stride` of the first set, `b + t*b_stride` of the second and `common + t*common_stride` of the
/// intersection.
struct Piece {
  std::int64_t length = 0;
  std::int64_t count = 1;
  std::int64_t a = 0;
  std::int64_t a_stride = 0;
  std::int64_t b = 0;
  std::int64_t b_stride = 0;
  std::int64_t common = 0;
  std::int64_t common_stride = 0;

  std::int64_t elements() const { return length * count; }
  bool operator==(const Piece&) const = default;
};

using Pieces = std::vector<Piece>;

/// Returns the intersection of two index sets.
///
/// Two periodic sets repeat after L = lcm of their strides.  The pieces of one period (of the whole range if that is
/// shorter) are found by solving congruences for each pair of runs, or by walking over the runs if that takes fewer
/// steps; see layout::CommonRuns.  Pieces are ordered by their first common position.  No two stretches that follow
/// each other in the intersection are adjacent on both sides.  cost  O(pieces of one period), independent of the number
/// of indices.
Pieces intersect(const IndexSet& a, const IndexSet& b);

/// Returns the number of indices in the pieces.
std::int64_t elements(const Pieces& pieces);
/// Returns the number of stretches.  No two of them are adjacent on both sides.
std::int64_t runs(const Pieces& pieces);

/// Returns the part of the pieces whose common positions are in [begin, end).  Common positions then count from
/// `begin`.
/// cost    O(pieces).
Pieces clip(const Pieces& pieces, std::int64_t begin, std::int64_t end);
/// Returns the part of the pieces whose positions `b` are in [begin, end).  The positions `b` then count from `begin`.
Pieces clip_target(const Pieces& pieces, std::int64_t begin, std::int64_t end);

using plait::Congruence;
using plait::solve_congruence;

}  // namespace plait::plan
