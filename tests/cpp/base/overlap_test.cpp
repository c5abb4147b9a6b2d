// Overlaps of strided arrays in memory, compared with lists of all their bytes.
#include "base/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "oracle.hpp"
#include "plait/layout.hpp"

namespace {

using plait::Extents;
using plait::base::MemoryBox;
using plait::base::overlaps_itself;
using plait::base::share_memory;

/// Returns an address that is never dereferenced; positions may be negative.
std::byte* address(std::int64_t position) { return reinterpret_cast<std::byte*>((std::int64_t{1} << 40) + position); }

/// Returns the positions of all bytes of a box, element by element.
std::vector<std::int64_t> box_bytes(std::int64_t first, const Extents& shape, const Extents& strides,
                                    std::int64_t size) {
  std::vector<std::int64_t> result;
  oracle::for_each_index(shape, [&](const Extents& index) {
    std::int64_t position = first;
    for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * strides[d];
    for (std::int64_t byte = 0; byte < size; ++byte) result.push_back(position + byte);
  });
  return result;
}

TEST(Overlap, OfRandomArraysIsThatOfTheirBytes) {
  std::mt19937 random(7);
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int overlapping_pairs = 0;
  int disjoint_pairs = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::int64_t size = number(1, 4);
    Extents shapes[2];
    Extents strides[2];
    std::int64_t first[2];
    std::vector<std::int64_t> bytes[2];
    for (int i = 0; i < 2; ++i) {
      for (int d = number(0, 3); d > 0; --d) {
        shapes[i].push_back(number(0, 12) == 0 ? 0 : number(1, 4));
        strides[i].push_back(number(-8, 8) * (number(0, 1) == 0 ? 1 : 4));
      }
      first[i] = number(0, 40);
      bytes[i] = box_bytes(first[i], shapes[i], strides[i], size);
    }
    const MemoryBox first_box{address(first[0]), shapes[0], strides[0], size};
    const MemoryBox second_box{address(first[1]), shapes[1], strides[1], size};
    const std::set<std::int64_t> set(bytes[0].begin(), bytes[0].end());
    const bool overlap = std::any_of(bytes[1].begin(), bytes[1].end(), [&](auto byte) { return set.contains(byte); });
    ASSERT_EQ(share_memory(first_box, second_box), overlap) << round;
    ASSERT_EQ(share_memory(second_box, first_box), overlap) << round;
    ASSERT_EQ(overlaps_itself(first_box), set.size() != bytes[0].size()) << round;
    overlapping_pairs += overlap ? 1 : 0;
    disjoint_pairs += overlap ? 0 : 1;
  }
  EXPECT_GT(overlapping_pairs, 2000);
  EXPECT_GT(disjoint_pairs, 2000);
}

TEST(Overlap, OfLargeArraysIsComputedWithoutEnumeration) {
  const std::int64_t n = std::int64_t{1} << 20;
  const Extents shape{n / 2, n};
  const Extents strides{16 * n, 8};  // every other row
  EXPECT_FALSE(share_memory({address(0), shape, strides, 8}, {address(8 * n), shape, strides, 8}));
  EXPECT_TRUE(share_memory({address(0), shape, strides, 8}, {address(16 * n), shape, strides, 8}));
  const Extents half{n, n / 2};
  const Extents columns{8 * n, 16};  // every other column
  EXPECT_FALSE(share_memory({address(0), half, columns, 8}, {address(8), half, columns, 8}));
  EXPECT_TRUE(share_memory({address(0), half, columns, 8}, {address(4), half, columns, 8}));
  EXPECT_FALSE(overlaps_itself({address(0), half, columns, 8}));
  const Extents overlapping_rows{8, 8};
  EXPECT_TRUE(overlaps_itself({address(0), half, overlapping_rows, 8}));
}

TEST(Overlap, IsAssumedForStridesThatExceedTheAddressSpace) {
  const Extents shape{3, 3};
  const Extents strides{INT64_MAX, INT64_MIN};
  const MemoryBox box{address(0), shape, strides, 8};
  EXPECT_TRUE(share_memory(box, box));
  const Extents same_rows{0, 8};
  EXPECT_TRUE(overlaps_itself({address(0), shape, same_rows, 8}));
}

}  // namespace
