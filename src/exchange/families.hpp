/// Converts the pieces of one dimension into few nests of loops, called families, so that a copy needs few calls.
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
/// a_stride, b_stride) advances the runs inside it by `a_stride` positions in the source and `b_stride` in the target.
/// Loops are in order of their target strides, the smallest one first.
struct Family {
  static constexpr int kMaxLoops = 3;
  struct Loop {
    std::int64_t count = 1;
    std::int64_t a_stride = 0;
    std::int64_t b_stride = 0;
    bool operator==(const Loop&) const = default;
  };

  std::int64_t length = 0;
  std::int64_t a = 0;  // position of the first run in the source
  std::int64_t b = 0;  // position of the first run in the target
  int depth = 0;
  std::array<Loop, kMaxLoops> loops{};

  std::int64_t elements() const {
    std::int64_t product = length;
    for (int i = 0; i < depth; ++i) product *= loops[static_cast<std::size_t>(i)].count;
    return product;
  }
};

using Families = std::vector<Family>;

/// Returns families with the elements of the pieces. Pieces at equal distances become one family with one more loop.
Families make_families(const plan::Pieces& pieces);

/// Calls visit(source offset of the first run, target offset of the first run, loops) for each combination of one
/// family of each dimension. Offsets and loops are in the units of the strides.
template <typename Visit>
void for_each_nest(std::span<const Families* const> families, const Extents& a_strides, const Extents& b_strides,
                   Visit&& visit) {
  const std::size_t dimensions = families.size();
  std::array<std::size_t, kMaxDimensions> indices{};
  std::array<copy::Loop, (1 + Family::kMaxLoops) * kMaxDimensions> loops;
  while (true) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::size_t depth = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Family& family = (*families[d])[indices[d]];
      a += family.a * a_strides[d];
      b += family.b * b_strides[d];
      if (family.length > 1) loops[depth++] = {family.length, a_strides[d], b_strides[d]};
      for (int i = 0; i < family.depth; ++i) {
        const Family::Loop& loop = family.loops[static_cast<std::size_t>(i)];
        loops[depth++] = {loop.count, loop.a_stride * a_strides[d], loop.b_stride * b_strides[d]};
      }
    }
    visit(a, b, std::span<const copy::Loop>(loops.data(), depth));
    std::size_t d = dimensions;
    while (d > 0 && ++indices[d - 1] == families[d - 1]->size()) indices[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace plait::exchange
