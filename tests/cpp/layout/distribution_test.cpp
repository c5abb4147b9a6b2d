// One dimension of a layout, compared with a list of owners: every distribution on every small size.
#include <gtest/gtest.h>

#include "oracle.hpp"

namespace {

using oracle::to_size_t;
using plait::Distribution;
using plait::Extents;
using plait::IndexSet;
using plait::Layout;

/// Compares all functions of a one-dimensional layout with a list of the owners of its indices.
void check(const Layout& layout) {
  const std::int64_t size = layout.shape()[0];
  const std::int64_t extent = layout.coordinates_in(0);
  const Extents owners = oracle::owner_map(layout.distributions()[0], size, extent);
  ASSERT_EQ(static_cast<std::int64_t>(owners.size()), size);
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < extent; ++c) {
    const IndexSet set = layout.index_set(0, c);
    Extents owned;
    for (std::int64_t i = 0; i < size; ++i)
      if (owners[to_size_t(i)] == c) owned.push_back(i);
    ASSERT_EQ(set.size(), static_cast<std::int64_t>(owned.size())) << "coordinate " << c;
    ASSERT_EQ(layout.local_shape(c), Extents{set.size()});
    ASSERT_EQ(layout.local_elements(c), set.size());
    total += set.size();
    for (std::int64_t position = 0; position < set.size(); ++position) {
      const std::int64_t index = owned[to_size_t(position)];
      ASSERT_EQ(set.at(position), index);
      ASSERT_EQ(set.count_below(index), position);
      ASSERT_EQ(layout.to_local(Extents{index}, c), Extents{position});
      ASSERT_EQ(layout.to_global(Extents{position}, c), Extents{index});
    }
  }
  ASSERT_EQ(total, size);
  for (std::int64_t i = 0; i < size; ++i) {
    ASSERT_EQ(layout.owner(0, i), owners[to_size_t(i)]);
    ASSERT_EQ(layout.owner(Extents{i}), owners[to_size_t(i)]);
  }
  for (std::int64_t begin = 0; begin <= size; ++begin) {
    for (std::int64_t end = begin; end <= size; ++end) {
      Extents expected(owners.begin() + begin, owners.begin() + end);
      std::sort(expected.begin(), expected.end());
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      ASSERT_EQ(layout.owners_in(0, begin, end), expected) << begin << ':' << end;
    }
  }
}

TEST(Distribution, EveryKindOnEverySmallSize) {
  for (std::int64_t size = 0; size <= 13; ++size) {
    check(Layout({size}, {Distribution::collapsed()}, {}));
    for (std::int64_t extent = 1; extent <= 6; ++extent) {
      for (const Distribution& distribution : oracle::distributions_for(size, extent, 7)) {
        const Layout layout({size}, {distribution}, {extent});
        SCOPED_TRACE(oracle::describe(layout));
        check(layout);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Distribution, AllGeneralBlocksOfASmallSize) {
  for (std::int64_t a = 0; a <= 5; ++a)
    for (std::int64_t b = 0; a + b <= 5; ++b)
      for (std::int64_t c = 0; a + b + c <= 5; ++c)
        check(Layout({5}, {Distribution::gen_block({a, b, c, 5 - a - b - c})}, {4}));
}

TEST(Distribution, PrintsAsHpfSpellsIt) {
  EXPECT_EQ(to_string(Distribution::collapsed()), "*");
  EXPECT_EQ(to_string(Distribution::blocked()), "block");
  EXPECT_EQ(to_string(Distribution::blocked(7)), "block(7)");
  EXPECT_EQ(to_string(Distribution::balanced()), "balanced");
  EXPECT_EQ(to_string(Distribution::cyclic()), "cyclic");
  EXPECT_EQ(to_string(Distribution::cyclic(3)), "cyclic(3)");
  EXPECT_EQ(to_string(Distribution::gen_block({2, 0, 3})), "gen_block(2, 0, 3)");
}

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(Distribution, BlocksMayExceedThirtyTwoBits) {
  const std::int64_t size = (std::int64_t{1} << 31) * 5 + 3;
  const Layout layout({size}, {Distribution::cyclic(std::int64_t{1} << 31)}, {2});
  EXPECT_EQ(layout.local_elements(0), (std::int64_t{1} << 31) * 3);
  EXPECT_EQ(layout.local_elements(1), (std::int64_t{1} << 31) * 2 + 3);
  EXPECT_EQ(layout.owner(0, size - 1), 1);
  EXPECT_EQ(layout.to_local(Extents{size - 1}, 1), Extents{(std::int64_t{1} << 32) + 2});
  EXPECT_EQ(layout.to_global(Extents{(std::int64_t{1} << 32) + 2}, 1), Extents{size - 1});
}

TEST(Distribution, HugeSizesDoNotOverflow) {
  for (const Distribution& distribution :
       {Distribution::blocked(), Distribution::balanced(), Distribution::cyclic(), Distribution::cyclic(3),
        Distribution::cyclic(kHuge / 4), Distribution::cyclic(kHuge - 1), Distribution::cyclic(INT64_MAX),
        Distribution::blocked(kHuge / 2), Distribution::blocked(kHuge), Distribution::blocked(INT64_MAX),
        Distribution::gen_block({kHuge / 2, 0, kHuge - kHuge / 2 - 1, 0, 0, 0})}) {
    const Layout layout({kHuge - 1}, {distribution}, {6});
    SCOPED_TRACE(oracle::describe(layout));
    std::int64_t total = 0;
    for (std::int64_t c = 0; c < 6; ++c) {
      const IndexSet set = layout.index_set(0, c);
      total += set.size();
      if (set.empty()) continue;
      for (const std::int64_t position : {std::int64_t{0}, set.size() / 2, set.size() - 1}) {
        const std::int64_t index = set.at(position);
        EXPECT_EQ(layout.owner(0, index), c);
        EXPECT_EQ(set.count_below(index), position);
        EXPECT_EQ(set.next(index), index);
        const Extents owners = layout.owners_in(0, index, kHuge - 1);
        EXPECT_NE(std::find(owners.begin(), owners.end(), c), owners.end());
      }
    }
    EXPECT_EQ(total, kHuge - 1);
    EXPECT_EQ(Layout::parse(to_string(layout)), layout);
  }
}

TEST(Distribution, MoreCoordinatesThanIndicesAndProductsPastTwoToThe63) {
  // block * coordinates exceeds 2^63; only coordinates 0 to 2 own indices.
  const Layout layout({10}, {Distribution::cyclic(4)}, {kHuge});
  EXPECT_EQ(layout.local_elements(2), 2);
  EXPECT_EQ(layout.local_elements(3), 0);
  EXPECT_EQ(layout.local_elements(kHuge - 1), 0);
  EXPECT_EQ(layout.owner(Extents{9}), 2);
  EXPECT_EQ(layout.owners_in(0, 0, 10), (Extents{0, 1, 2}));
  EXPECT_EQ(Layout::parse(to_string(layout)), layout);
  const Layout huge_block({10}, {Distribution::cyclic(kHuge)}, {kHuge});
  EXPECT_EQ(huge_block.local_elements(0), 10);
  EXPECT_EQ(huge_block.local_elements(kHuge - 1), 0);
  const Layout balanced({10}, {Distribution::balanced()}, {kHuge});
  EXPECT_EQ(balanced.local_elements(9), 1);
  EXPECT_EQ(balanced.local_elements(kHuge - 1), 0);
}

}  // namespace
