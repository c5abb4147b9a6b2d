/// Products of pieces as nests of loops, and the runs in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// `count` steps of a nest; each moves the two sides by so many units (elements or bytes, as the caller counts).
struct NestLoop {
  std::int64_t count = 1;
  std::int64_t a_step = 0;
  std::int64_t b_step = 0;
};

/// One combination of pieces, one of each dimension: a nest of loops from a first position on each side.
struct Nest {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::vector<NestLoop> loops;  // of more than one step, slowest dimension first, not sorted otherwise
};

/// Calls `visit(Nest&)`, which may change the nest, for each combination of one piece of each dimension.  `a_steps` and
/// `b_steps` say how far apart neighbours of a dimension lie on each side.
template <typename Visit>
void for_each_nest(const std::vector<Pieces>& pieces, const std::vector<std::int64_t>& a_steps,
                   const std::vector<std::int64_t>& b_steps, Visit&& visit) {
  for (const Pieces& dimension : pieces)
    if (dimension.empty()) return;
  std::vector<std::size_t> chosen(pieces.size(), 0);
  Nest nest;
  nest.loops.reserve(2 * pieces.size());
  while (true) {
    nest.a = nest.b = 0;
    nest.loops.clear();
    for (std::size_t d = 0; d < pieces.size(); ++d) {
      const Piece& piece = pieces[d][chosen[d]];
      nest.a += piece.a * a_steps[d];
      nest.b += piece.b * b_steps[d];
      if (piece.count > 1) nest.loops.push_back({piece.count, piece.a_step * a_steps[d], piece.b_step * b_steps[d]});
      if (piece.length > 1) nest.loops.push_back({piece.length, a_steps[d], b_steps[d]});
    }
    visit(nest);
    std::size_t d = pieces.size();
    while (d > 0 && ++chosen[d - 1] == pieces[d - 1].size()) chosen[--d] = 0;
    if (d == 0) return;
  }
}

/// Takes the loops that are contiguous on both sides (unit `unit`) out of a nest and returns their run in units.
std::int64_t take_run(Nest& nest, std::int64_t unit);

}  // namespace plait::plan
