// Families, which combine pieces at equal distances into nests of loops, compared with lists of all their elements.
#include "exchange/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using plait::IndexSet;
using plait::exchange::Families;
using plait::exchange::Family;
using plait::plan::Piece;
using plait::plan::Pieces;
using PositionPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;  // position in the source, in the target

PositionPairs sorted(PositionPairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

PositionPairs list_positions(const Pieces& pieces) {
  PositionPairs result;
  for (const Piece& piece : pieces)
    for (std::int64_t t = 0; t < piece.count; ++t)
      for (std::int64_t i = 0; i < piece.length; ++i)
        result.emplace_back(piece.a + t * piece.a_stride + i, piece.b + t * piece.b_stride + i);
  return sorted(result);
}

PositionPairs list_positions(const Families& families) {
  PositionPairs result;
  for (const Family& family : families) {
    plait::Extents index(static_cast<std::size_t>(family.depth), 0);
    while (true) {
      std::int64_t a = family.a;
      std::int64_t b = family.b;
      for (std::size_t i = 0; i < index.size(); ++i) {
        a += index[i] * family.loops[i].a_stride;
        b += index[i] * family.loops[i].b_stride;
      }
      for (std::int64_t k = 0; k < family.length; ++k) result.emplace_back(a + k, b + k);
      std::size_t i = 0;
      while (i < index.size() && ++index[i] == family.loops[i].count) index[i++] = 0;
      if (i == index.size()) break;
    }
  }
  return sorted(result);
}

/// Returns the pieces between block-cyclic sets of various blocks (k, l) and numbers of coordinates (p, q).
std::vector<Pieces> examples() {
  std::vector<Pieces> result;
  for (const std::int64_t extent : {1, 60, 500, 1000})
    for (const auto& [k, p] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {3, 2}, {36, 2}, {5, 3}})
      for (const auto& [l, q] : {std::pair<std::int64_t, std::int64_t>{128, 2}, {1, 1}, {7, 4}, {4, 2}})
        for (std::int64_t c = 0; c < p; ++c)
          result.push_back(
              plait::plan::intersect(IndexSet::blocks(c * k, k, k * p, std::max(extent, c * k)),
                                     IndexSet::blocks((q - 1) * l, l, l * q, std::max(extent, (q - 1) * l))));
  return result;
}

TEST(Families, HaveTheSameElementsAndAreNotMoreThanPieces) {
  for (const Pieces& pieces : examples()) {
    const Families families = plait::exchange::make_families(pieces);
    EXPECT_LE(families.size(), pieces.size());
    ASSERT_EQ(list_positions(families), list_positions(pieces));
    for (const Family& family : families)
      for (int i = 1; i < family.depth; ++i)
        EXPECT_LE(family.loops[static_cast<std::size_t>(i) - 1].b_stride,
                  family.loops[static_cast<std::size_t>(i)].b_stride);
  }
}

TEST(Families, RunsOfOneElementNeedTwoLoops) {
  // Apart from the ends, the pieces are runs of one element, 64 of them in each of 49 periods.
  const Pieces pieces = plait::plan::intersect(IndexSet::blocks(0, 1, 2, 12800), IndexSet::blocks(0, 128, 256, 12800));
  EXPECT_GE(pieces.size(), 64U);
  const Families families = plait::exchange::make_families(pieces);
  EXPECT_LE(families.size(), 4U);
  const auto largest = std::max_element(families.begin(), families.end(),
                                        [](const Family& x, const Family& y) { return x.elements() < y.elements(); });
  ASSERT_EQ(largest->depth, 2);
  EXPECT_GE(largest->loops[0].count, 62);
  EXPECT_EQ(largest->loops[0], (Family::Loop{largest->loops[0].count, 1, 2}));
  EXPECT_EQ(largest->loops[1], (Family::Loop{largest->loops[1].count, 128, 128}));
}

TEST(Families, ClippedPiecesHaveTheElementsInTheRange) {
  for (const Pieces& pieces : examples()) {
    const PositionPairs all = list_positions(pieces);
    for (const auto& [begin, end] :  // positions in the target
         {std::pair<std::int64_t, std::int64_t>{0, 7}, {3, 4}, {5, 200}, {100, 100}, {64, 999}}) {
      PositionPairs expected;
      for (const auto& [a, b] : all)
        if (b >= begin && b < end) expected.emplace_back(a, b - begin);
      ASSERT_EQ(list_positions(plait::plan::clip_target(pieces, begin, end)), sorted(expected));
    }
  }
}

}  // namespace
