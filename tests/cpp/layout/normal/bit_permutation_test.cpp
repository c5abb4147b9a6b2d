// Bit permutations of layouts whose sizes are powers of two: the bits of an element's number become those of its unit
// (rank or disk) and its position there. The Python tests check more layouts element by element.
#include "plait/bit_permutation.hpp"

#include <gtest/gtest.h>

#include "oracle.hpp"

namespace {

using plait::bit_permutation;
using plait::BitPermutation;
using plait::Extents;
using plait::Layout;
using plait::Order;
using plait::UnitPattern;
using plait::UnitPosition;

const char* const kImage = "8x8 (block, block) onto (2, 2)";
const char* const kDisks = "64 (cyclic(8)) onto (2)";

BitPermutation parse_bits(const char* text, Order order = Order::kC) {
  return bit_permutation(Layout::parse(text), order);
}

TEST(BitPermutation, WorkedExampleOf1993) {
  EXPECT_EQ(parse_bits(kImage), BitPermutation({5, 2}, {4, 3, 1, 0}));
  EXPECT_EQ(parse_bits(kDisks), BitPermutation({3}, {5, 4, 2, 1, 0}));
  const BitPermutation composed = parse_bits(kImage).inverse().then(parse_bits(kDisks));
  EXPECT_EQ(composed, BitPermutation({2}, {5, 3, 4, 1, 0}, 2));
  EXPECT_EQ(composed.trace({"10", "1xyz"}), (UnitPattern{"x", "110yz"}));
  EXPECT_EQ(composed.apply({2, 8}), (UnitPosition{0, 24}));
  EXPECT_EQ(composed.apply({2, 15}), (UnitPosition{1, 27}));
  EXPECT_EQ(composed.block(), 4);
}

TEST(BitPermutation, AgreesWithTheElementMapOfSmallLayouts) {
  for (const char* text :
       {"16 (*)", "16 (block) onto (4)", "16 (cyclic(2)) onto (4)", "4x8 (cyclic, cyclic(2)) onto (2, 2)",
        "2x4x8 (*, block, cyclic) onto (4, 2) order=F", "1x4x1x2 (block, cyclic, *, block) onto (1, 2, 2)"}) {
    const Layout layout = Layout::parse(text);
    const oracle::ArrayMap map = oracle::make_map(layout);
    const BitPermutation actual = bit_permutation(layout);
    for (std::int64_t number = 0; number < layout.elements(); ++number) {
      const UnitPosition position = actual.apply({0, number});
      EXPECT_EQ(position.unit, map.positions[oracle::to_size_t(number)].rank) << text;
      EXPECT_EQ(position.position, map.positions[oracle::to_size_t(number)].offset) << text;
      EXPECT_EQ(actual.inverse().apply(position), (UnitPosition{0, number})) << text;
    }
  }
}

TEST(BitPermutation, FilesMayBeInFortranOrder) {
  EXPECT_EQ(parse_bits("4x8 (block, *) onto (2)"), BitPermutation({4}, {3, 2, 1, 0}));
  EXPECT_EQ(parse_bits("4x8 (block, *) onto (2)", Order::kFortran), BitPermutation({1}, {0, 4, 3, 2}));
}

TEST(BitPermutation, OtherLayoutsAreErrors) {
  oracle::expect_rejected([] { parse_bits("8x12 (block, block) onto (2, 2)"); }, "dimension 1 has the size 12");
  oracle::expect_rejected([] { parse_bits("8x8 (cyclic(3), *) onto (2)"); }, "dimension 0 of size 8");
  oracle::expect_rejected([] { parse_bits("4 (block) onto (8)"); }, "8 ranks for 4 elements");
  oracle::expect_rejected([] { BitPermutation({0}, {0}); }, "bit 0");
  oracle::expect_rejected([] { parse_bits(kImage).then(parse_bits(kImage)); }, "2 bits of a unit");
  oracle::expect_rejected([] { parse_bits(kImage).apply({0, 64}); }, "64");
  oracle::expect_rejected([] { parse_bits(kImage).trace({"", "01"}); }, "expected 6");
}

}  // namespace
