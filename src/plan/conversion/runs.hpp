/// Converts the elements of a message into nests of loops, and finds the runs in them that are contiguous on both
/// sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// A loop of a nest: `count` iterations, each of which advances the two sides by their strides, in elements or bytes.
struct NestLoop {
  std::int64_t count = 1;
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
};

/// A nest of loops over the elements of one combination of pieces, one piece for each dimension.  `a` and `b` are the
/// positions of the first element on each side.
struct Nest {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::vector<NestLoop> loops;  // loops of two iterations or more, slowest dimension first, not sorted otherwise
};

/// Calls `visit(Nest&)`, which may change the nest, for each combination of one piece of each dimension.  `a_strides`
/// and `b_strides` are the strides of each dimension on each side.
template <typename Visit>
void for_each_nest(const std::vector<Pieces>& pieces, const std::vector<std::int64_t>& a_strides,
                   const std::vector<std::int64_t>& b_strides, Visit&& visit) {
  for (const Pieces& dimension : pieces)
    if (dimension.empty()) return;
  std::vector<std::size_t> index(pieces.size(), 0);
  Nest nest;
  nest.loops.reserve(2 * pieces.size());
  while (true) {
    nest.a = nest.b = 0;
    nest.loops.clear();
    for (std::size_t d = 0; d < pieces.size(); ++d) {
      const Piece& piece = pieces[d][index[d]];
      nest.a += piece.a * a_strides[d];
      nest.b += piece.b * b_strides[d];
      if (piece.count > 1)
        nest.loops.push_back({piece.count, piece.a_stride * a_strides[d], piece.b_stride * b_strides[d]});
      if (piece.length > 1) nest.loops.push_back({piece.length, a_strides[d], b_strides[d]});
    }
    visit(nest);
    // Advances to the next combination of pieces, in the last dimension first.
    std::size_t d = pieces.size();
    while (d > 0 && ++index[d - 1] == pieces[d - 1].size()) index[--d] = 0;
    if (d == 0) return;
  }
}

/// Removes the loops whose iterations are adjacent on both sides from a nest and returns the length of the run that
/// they form, in the unit of the strides (elements or bytes).  `unit` is the size of an element in that unit.
///
/// Example: 3 rows of 4 doubles, whose rows are 96 bytes apart on side a and 32 on side b, are the loops (3, 96, 32)
/// and (4, 8, 8).  The second one continues the unit of 8 bytes and makes a run of 32 bytes.  The first one has the
/// stride 32 on side b only, so it stays.
std::int64_t take_run(Nest& nest, std::int64_t unit);

}  // namespace plait::plan
