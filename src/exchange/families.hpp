/// Pieces of one dimension as few nests of loops.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "copy/strided_copy.hpp"
#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::exchange {

/// Runs of `length` consecutive positions on both sides, repeated by nested loops.  Each iteration of the loop (count,
/// a_step, b_step) advances the runs inside it by `a_step` positions in the source and `b_step` in the target.  Loops
/// are in order of their target steps, the smallest one first.
struct Family {
  static constexpr int kMostLoops = 3;
  struct Loop {
    std::int64_t count = 1;
    std::int64_t a_step = 0;
    std::int64_t b_step = 0;
    bool operator==(const Loop&) const = default;
  };

  std::int64_t length = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
  int depth = 0;
  std::array<Loop, kMostLoops> loops{};

  std::int64_t elements() const {
    std::int64_t product = length;
    for (int i = 0; i < depth; ++i) product *= loops[static_cast<std::size_t>(i)].count;
    return product;
  }
};

using Families = std::vector<Family>;

/// Returns the elements of the pieces in fewer families: pieces at equal distances become one more loop.
Families families_of(const plan::Pieces& pieces);

/// Calls visit(offset of the first run in the source, in the target, loops) for each combination of one family of each
/// dimension, in the units of the steps.
template <typename Visit>
void for_each_nest(std::span<const Families* const> families, const Extents& a_steps, const Extents& b_steps,
                   Visit&& visit) {
  const std::size_t dimensions = families.size();
  std::array<std::size_t, kMaxDimensions> chosen{};
  std::array<copy::Loop, (1 + Family::kMostLoops) * kMaxDimensions> loops;
  while (true) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::size_t depth = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Family& family = (*families[d])[chosen[d]];
      a += family.a * a_steps[d];
      b += family.b * b_steps[d];
      if (family.length > 1) loops[depth++] = {family.length, a_steps[d], b_steps[d]};
      for (int i = 0; i < family.depth; ++i) {
        const Family::Loop& loop = family.loops[static_cast<std::size_t>(i)];
        loops[depth++] = {loop.count, loop.a_step * a_steps[d], loop.b_step * b_steps[d]};
      }
    }
    visit(a, b, std::span<const copy::Loop>(loops.data(), depth));
    std::size_t d = dimensions;
    while (d > 0 && ++chosen[d - 1] == families[d - 1]->size()) chosen[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace plait::exchange
