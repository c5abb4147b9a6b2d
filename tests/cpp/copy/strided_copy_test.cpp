// strided_copy(), compared with a simple loop, with every instruction set that this processor supports.
#include "copy/strided_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "copy/instruction_set.hpp"

namespace {

using plait::copy::Destination;
using plait::copy::Loop;
using plait::copy::strided_copy;
using Bytes = std::vector<std::byte>;

/// The arguments of strided_copy() apart from the addresses.
struct Copy {
  std::int64_t element_bytes;
  std::vector<Loop> loops;
};

/// The range of bytes of one side, relative to its first element.
struct Extent {
  std::int64_t low = 0, high = 0;
};

Extent find_extent(const Copy& copy, std::int64_t Loop::* stride) {
  Extent result{0, copy.element_bytes};
  for (const Loop& loop : copy.loops) {
    if (loop.count == 0) return {0, 0};
    (loop.*stride < 0 ? result.low : result.high) += (loop.count - 1) * loop.*stride;
  }
  return result;
}

void naive_copy(std::byte* target, const std::byte* source, const Copy& copy, std::size_t level = 0) {
  if (level == copy.loops.size()) {
    std::memcpy(target, source, static_cast<std::size_t>(copy.element_bytes));
    return;
  }
  const Loop& loop = copy.loops[level];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    naive_copy(target + i * loop.target_stride, source + i * loop.source_stride, copy, level + 1);
  }
}

std::string describe(const Copy& copy) {
  std::string text = "element " + std::to_string(copy.element_bytes);
  for (const Loop& loop : copy.loops) {
    text += " [" + std::to_string(loop.count) + " source " + std::to_string(loop.source_stride) + " target " +
            std::to_string(loop.target_stride) + "]";
  }
  return text;
}

/// Copies between buffers that begin and end with the copied elements, so that a sanitizer detects accesses outside.
/// Compares the whole target, because bytes between the elements must not change.
void check(const Copy& copy) {
  const Extent from = find_extent(copy, &Loop::source_stride), to = find_extent(copy, &Loop::target_stride);
  if (from.high == 0 || to.high == 0) return;
  Bytes source(static_cast<std::size_t>(from.high - from.low)), target(static_cast<std::size_t>(to.high - to.low));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  std::fill(target.begin(), target.end(), std::byte{0xA5});
  Bytes expected = target;
  naive_copy(expected.data() - to.low, source.data() - from.low, copy);
  for (const auto& set : plait::copy::instruction_sets()) {
    ASSERT_TRUE(plait::copy::use_instruction_set(set.name));
    for (const Destination destination : {Destination::kCaches, Destination::kMemory}) {
      Bytes result = target;
      strided_copy(result.data() - to.low, source.data() - from.low, copy.element_bytes, copy.loops, destination);
      ASSERT_EQ(std::memcmp(result.data(), expected.data(), expected.size()), 0)
          << set.name << (destination == Destination::kMemory ? " past the caches, " : ", ") << describe(copy);
    }
  }
  plait::copy::use_instruction_set(plait::copy::instruction_sets()[0].name);
}

/// Sets random strides of one side such that its elements do not overlap, in a random order of the loops.
void set_strides(Copy& copy, std::int64_t Loop::* stride, std::mt19937& random, bool is_target) {
  std::vector<std::size_t> order(copy.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random() % 3 != 0) std::shuffle(order.begin(), order.end(), random);
  std::int64_t next_stride = copy.element_bytes;
  for (const std::size_t i : order) {
    Loop& loop = copy.loops[i];
    switch (random() % 6) {
      case 0: next_stride += copy.element_bytes * static_cast<std::int64_t>(random() % 5); break;
      case 1: next_stride += static_cast<std::int64_t>(random() % 40); break;
      default: break;
    }
    loop.*stride = next_stride;
    next_stride *= std::max<std::int64_t>(loop.count, 1);
    if (random() % 8 == 0) loop.*stride = -(loop.*stride);
    if (!is_target && random() % 32 == 0) loop.*stride = 0;  // elements of a source may be read repeatedly
  }
}

TEST(StridedCopy, CopiesRandomNests) {
  std::mt19937 random(20240611);
  const std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 100};
  for (int round = 0; round < 6000; ++round) {
    Copy copy{sizes[random() % std::size(sizes)], std::vector<Loop>(random() % 6)};
    std::int64_t elements = 1;
    for (Loop& loop : copy.loops) {
      loop.count = static_cast<std::int64_t>(random() % 21);
      if (random() % 3 == 0) loop.count = 1 + loop.count % 4;
      if (loop.count == 0 && random() % 8 != 0) loop.count = 1;
      if (elements * std::max<std::int64_t>(loop.count, 1) > 20000) loop.count = 1;
      elements *= std::max<std::int64_t>(loop.count, 1);
    }
    set_strides(copy, &Loop::source_stride, random, /*is_target=*/false);
    set_strides(copy, &Loop::target_stride, random, /*is_target=*/true);
    const Extent from = find_extent(copy, &Loop::source_stride), to = find_extent(copy, &Loop::target_stride);
    if (from.high - from.low > 4'000'000 || to.high - to.low > 4'000'000) continue;
    ASSERT_NO_FATAL_FAILURE(check(copy));
  }
}

TEST(StridedCopy, GathersAndScattersEveryStride) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 31, 32, 48, 64, 96, 128}) {
    for (std::int64_t stride = 1; stride <= 20; ++stride) {
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{7}, std::int64_t{64}, 5000 / size + 301}) {
        ASSERT_NO_FATAL_FAILURE(check({size, {{count, stride * size, size}}}));
        ASSERT_NO_FATAL_FAILURE(check({size, {{count, size, stride * size}}}));
        ASSERT_NO_FATAL_FAILURE(check({size, {{count, stride * size, 3 * size}}}));
      }
      // Several rows, long and very short.
      ASSERT_NO_FATAL_FAILURE(check({size, {{70, stride * size, size}, {9, 75 * stride * size, 70 * size}}}));
      ASSERT_NO_FATAL_FAILURE(check({size, {{70, size, stride * size}, {9, 70 * size, 75 * stride * size}}}));
      for (const std::int64_t inner : {2, 3, 5, 8}) {
        const std::int64_t outer_stride = (inner + 3) * stride * size, outer = 4500 / (inner * size) + 30;
        ASSERT_NO_FATAL_FAILURE(check({size, {{inner, stride * size, size}, {outer, outer_stride, inner * size}}}));
        ASSERT_NO_FATAL_FAILURE(check({size, {{inner, size, stride * size}, {outer, inner * size, outer_stride}}}));
        ASSERT_NO_FATAL_FAILURE(check({size, {{inner, size, stride * size}, {outer, 50 * size, outer_stride}}}));
      }
    }
  }
}

TEST(StridedCopy, TransposesEverySize) {
  for (const std::int64_t size : {1, 2, 4, 8, 16, 3, 12, 24, 64}) {
    for (const std::int64_t rows : {2, 3, 7, 8, 15, 17, 64, 65, 129}) {
      for (const std::int64_t columns : {2, 4, 7, 16, 19, 64, 100, 257}) {
        ASSERT_NO_FATAL_FAILURE(check({size, {{columns, size, rows * size}, {rows, columns * size, size}}}));
      }
    }
    // Rows of more than one block.
    for (const std::int64_t columns : {5, 64, 300}) {
      for (const std::int64_t rows : {1024, 1101}) {
        ASSERT_NO_FATAL_FAILURE(
            check({size, {{rows, columns * size, size}, {columns, size, (rows + columns % 2 * 3) * size}}}));
      }
    }
    // Padded rows on both sides, and a third dimension.
    ASSERT_NO_FATAL_FAILURE(
        check({size, {{3, 70 * 90 * size, 70 * size}, {77, size, 3 * 70 * size}, {61, 90 * size, size}}}));
    ASSERT_NO_FATAL_FAILURE(
        check({size, {{5, 128 * 64 * size, 64 * 128 * size}, {128, size, 64 * size}, {64, 128 * size, size}}}));
  }
}

TEST(StridedCopy, CopiesLongContiguousTargets) {
  for (const std::int64_t size : {1, 3, 8, 12, 100, 1000, 3000, 9000}) {
    const std::int64_t count = 20000 / size + 3;
    for (const std::int64_t gap : {std::int64_t{0}, size, std::int64_t{64}}) {
      const std::int64_t row = count * size + gap;
      ASSERT_NO_FATAL_FAILURE(check({size, {{count, 2 * size, size}, {3, 2 * row, row}}}));
      ASSERT_NO_FATAL_FAILURE(
          check({size, {{3, 2 * size, size}, {count, 7 * size, 3 * size}, {2, 22 * row, 3 * row}}}));
      ASSERT_NO_FATAL_FAILURE(check({size, {{count, -2 * size, size}, {3, 2 * row, -row}}}));
    }
  }
}

TEST(StridedCopy, CopiesOneElementWithoutLoops) { ASSERT_NO_FATAL_FAILURE(check({8, {}})); }

TEST(StridedCopy, CopiesNothingForACountOfZero) {
  std::byte target{1};
  const std::byte source{2};
  const Loop loops[] = {{3, 1, 1}, {0, 5, 5}};
  strided_copy(&target, &source, 1, loops);
  EXPECT_EQ(target, std::byte{1});
}

TEST(InstructionSet, CanBeSelectedByName) {
  EXPECT_FALSE(plait::copy::use_instruction_set("abacus"));
  for (const auto& set : plait::copy::instruction_sets()) {
    ASSERT_TRUE(plait::copy::use_instruction_set(set.name));
    EXPECT_STREQ(plait::copy::instruction_set(), set.name);
  }
  plait::copy::use_instruction_set(plait::copy::instruction_sets()[0].name);
}

}  // namespace
