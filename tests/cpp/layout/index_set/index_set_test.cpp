// Index sets with one run in each period, compared with lists of indices.
#include "plait/index_set.hpp"

#include <gtest/gtest.h>

#include "index_set_case.hpp"
#include "oracle.hpp"

namespace {

using oracle::list_indices;
using plait::Extents;
using plait::IndexSet;

constexpr std::int64_t kMaxIndex = 26;

/// Compares every function of a set with the list of its indices.
void check_set(const IndexSet& set) { oracle::check_set(set, list_indices(set), kMaxIndex); }

TEST(IndexSet, AgreesWithListsOnAllSmallSets) {
  for (std::int64_t origin = 0; origin <= 4; ++origin) {
    for (std::int64_t end = origin; end <= 20; ++end) {
      check_set(IndexSet::range(origin, end));
      for (std::int64_t stride = 1; stride <= 8; ++stride)
        for (std::int64_t length = 1; length <= stride; ++length) {
          SCOPED_TRACE(testing::Message() << origin << '+' << length << '/' << stride << " below " << end);
          check_set(IndexSet::blocks(origin, length, stride, end));
          if (testing::Test::HasFatalFailure()) return;
        }
    }
  }
}

TEST(IndexSet, ClipsAtBothEnds) {
  for (std::int64_t stride = 1; stride <= 6; ++stride) {
    for (std::int64_t length = 1; length <= stride; ++length) {
      const IndexSet whole = IndexSet::blocks(3, length, stride, 20);
      const Extents list = list_indices(whole);
      for (std::int64_t begin = 0; begin <= 22; ++begin) {
        for (std::int64_t end = 0; end <= 22; ++end) {
          SCOPED_TRACE(testing::Message() << length << '/' << stride << " clipped to " << begin << ',' << end);
          const IndexSet clipped = whole.clip(begin, end);
          Extents expected;
          for (const std::int64_t x : list)
            if (x >= begin && x < end) expected.push_back(x);
          ASSERT_EQ(list_indices(clipped), expected);
          check_set(clipped);
          const IndexSet clipped_twice = clipped.clip(5, 15);
          check_set(clipped_twice);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(IndexSet, ReversedRangesAreEmpty) {
  EXPECT_TRUE(IndexSet::range(7, 3).empty());
  EXPECT_EQ(IndexSet::range(7, 3).runs(), 0);
  EXPECT_TRUE(IndexSet::blocks(7, 1, 2, 3).empty());
  EXPECT_TRUE(IndexSet().empty());
}

TEST(IndexSet, LargestIndicesDoNotOverflow) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  const IndexSet all = IndexSet::range(0, kLarge);
  EXPECT_EQ(all.size(), kLarge);
  EXPECT_EQ(all.at(kLarge - 1), kLarge - 1);
  EXPECT_EQ(all.runs(), 1);
  const IndexSet odd = IndexSet::blocks(1, 1, 2, INT64_MAX);
  EXPECT_EQ(odd.size(), INT64_MAX / 2);
  EXPECT_EQ(odd.at(odd.size() - 1), INT64_MAX - 2);
  EXPECT_EQ(odd.next(INT64_MAX - 3), INT64_MAX - 2);
  EXPECT_EQ(odd.next(INT64_MAX - 1), INT64_MAX);
  EXPECT_EQ(odd.runs(), INT64_MAX / 2);
  EXPECT_EQ(odd.clip(kLarge, kLarge + 10).size(), 5);
  const IndexSet rare = IndexSet::blocks(5, kLarge / 2, kLarge, INT64_MAX);
  EXPECT_EQ(rare.size(), kLarge);
  EXPECT_EQ(rare.runs(), 2);
  EXPECT_EQ(rare.next(kLarge / 2 + 5), kLarge + 5);
}

}  // namespace
