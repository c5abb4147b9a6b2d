// The block size of a conversion, which is the shortest run of any message, and the time that it takes to compute it.
// Some dimensions are too long for an enumeration; conversion_test.cpp checks the block size of many pairs of layouts.
#include "plan/conversion/block_size.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "oracle.hpp"

namespace {

using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::plan::block_size;

std::int64_t block(const char* source, const char* target) {
  return block_size(Layout::parse(source), Layout::parse(target));
}

TEST(BlockSize, ShortestRunsOfOneDimension) {
  EXPECT_EQ(block("12 (block) onto (3)", "12 (block) onto (4)"), 1);
  EXPECT_EQ(block("12 (block) onto (3)", "12 (block) onto (2)"), 2);
  EXPECT_EQ(block("12 (block) onto (2)", "12 (block) onto (4)"), 3);
  EXPECT_EQ(block("12 (block) onto (3)", "12 (*)"), 4);
  EXPECT_EQ(block("12 (cyclic(2)) onto (3)", "12 (cyclic(3)) onto (2)"), 1);
  EXPECT_EQ(block("12 (cyclic(4)) onto (3)", "12 (cyclic(6)) onto (2)"), 2);
  EXPECT_EQ(block("13 (block) onto (3)", "13 (*)"), 3);
  EXPECT_EQ(block("0 (block) onto (3)", "0 (*)"), 0);
  // The last element is alone in the source, but in both local arrays it directly follows the run before it.
  EXPECT_EQ(block("9 (cyclic(2)) onto (3)", "9 (cyclic(4)) onto (2)"), 2);
}

TEST(BlockSize, DimensionsThatAreCompleteOnBothSidesFuse) {
  EXPECT_EQ(block("8x12 (block, *) onto (4)", "8x12 (*, *)"), 24);
  EXPECT_EQ(block("8x12 (block, *) onto (4)", "8x12 (cyclic, *) onto (4)"), 12);
  EXPECT_EQ(block("8x12 (block, *) onto (4)", "8x12 (*, block) onto (4)"), 3);
  EXPECT_EQ(block("8x12 (*, block) onto (4) order=F", "8x12 (*, *) order=F"), 24);
  EXPECT_EQ(block("8x12 (*, block) onto (4) order=F", "8x12 (*, *)"), 1);
  EXPECT_EQ(block("4x6x5 (*, block, *) onto (2)", "4x6x5 (*, block, *) onto (2)"), 60);
  // Column 0 alone is one run of 9 elements on both sides; rows of the other columns are split into runs of 3 elements.
  EXPECT_EQ(block("9x7 (*, gen_block(1, 3, 3)) onto (3)", "9x7 (*, gen_block(1, 6)) onto (2)"), 3);
}

TEST(BlockSize, IsTheShortestRunOfRandomLongDimensions) {
  std::mt19937_64 random(5);
  for (std::int64_t n = 0; n < 1500 / oracle::kThinning; ++n) {
    const auto size = static_cast<std::int64_t>(200 + random() % 1200);
    const auto pick = [&](std::int64_t max) {
      return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max));
    };
    const auto random_layout = [&]() -> Layout {
      const std::int64_t extent = pick(9) + 1;
      switch (random() % 5) {
        case 0: return {{size}, {Distribution::blocked()}, {extent}};
        case 1: return {{size}, {Distribution::balanced()}, {extent}};
        case 2: {
          Extents sizes;
          std::int64_t remaining = size;
          for (std::int64_t c = 1; c < extent; ++c) {
            sizes.push_back(std::min(remaining, pick(300) - 1));
            remaining -= sizes.back();
          }
          sizes.push_back(remaining);
          return {{size}, {Distribution::gen_block(sizes)}, {extent}};
        }
        default: return {{size}, {Distribution::cyclic(pick(pick(400)))}, {extent}};
      }
    };
    const Layout source = random_layout();
    const Layout target = random_layout();
    ASSERT_EQ(block_size(source, target),
              oracle::expected_conversion(oracle::make_map(source), oracle::make_map(target)).shortest_run)
        << oracle::describe(source) << "  to  " << oracle::describe(target);
  }
}

TEST(BlockSize, TheTimeDoesNotDependOnTheSizeOfTheDimension) {
  const std::clock_t start = std::clock();
  EXPECT_EQ(block("1000000000000007 (*)", "1000000000000007 (cyclic(2)) onto (3)"), 1);
  EXPECT_EQ(block("1000000000000000 (*)", "1000000000000000 (cyclic(2)) onto (3)"), 2);
  EXPECT_EQ(block("1000000000000000 (cyclic(30000000)) onto (7)", "1000000000000000 (cyclic(30000002)) onto (5)"), 2);
  EXPECT_EQ(block("1000000000000000 (balanced) onto (48)", "1000000000000000 (cyclic(2)) onto (3)"), 1);
  EXPECT_EQ(
      block("1000000000000000 (gen_block(10, 999999999999990)) onto (2)", "1000000000000000 (cyclic(5)) onto (3)"), 5);
  EXPECT_EQ(block("4611686018427387904 (cyclic(3)) onto (7)", "4611686018427387904 (cyclic(2)) onto (5)"), 1);
  EXPECT_EQ(block("1000000000000 (balanced) onto (999999)", "1000000000000 (block) onto (1000000)"), 1);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 20 : 1);
}

}  // namespace
