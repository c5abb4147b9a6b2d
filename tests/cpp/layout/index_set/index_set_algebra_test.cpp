// Preimages of index sets under i -> scale * i + offset, nested sets, intersections and complements. All are compared
// with lists of indices.
#include <gtest/gtest.h>

#include <ctime>
#include <numeric>

#include "index_set_case.hpp"
#include "oracle.hpp"
#include "plait/index_set.hpp"

namespace {

using oracle::check_invariants;
using oracle::check_set;
using oracle::SetCase;
using oracle::to_size_t;
using plait::Extents;
using plait::IndexSet;

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

bool contains(const Extents& list, std::int64_t x) { return std::binary_search(list.begin(), list.end(), x); }

TEST(IndexSetAlgebra, PreimagesOfAllSmallSets) {
  std::int64_t count = 0;
  for (const SetCase& example : oracle::cases_of_every_kind()) {
    for (std::int64_t scale = -5; scale <= 5; ++scale) {
      if (scale == 0) continue;
      for (const std::int64_t offset : {-9, -1, 0, 2, 7, 23, 40}) {
        for (const std::int64_t n : {0, 1, 5, 18, 30}) {
          if (++count % oracle::kThinning != 0) continue;
          Extents expected;
          for (std::int64_t i = 0; i < n; ++i)
            if (contains(example.list, scale * i + offset)) expected.push_back(i);
          const IndexSet actual = plait::preimage(example.set, scale, offset, n);
          SCOPED_TRACE(testing::Message() << oracle::describe(example.set) << " under " << scale << "*i+" << offset
                                          << " below " << n << ": " << oracle::describe(actual));
          check_set(actual, expected, 30);
          if (scale != 1) check_invariants(actual);  // a translation shares the pattern
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(IndexSetAlgebra, PreimagesHaveFewRuns) {
  // The set is what coordinate 1 of p owns in cyclic(k). The preimage has single indices if the scale exceeds k.
  for (std::int64_t k = 1; k <= 7; ++k) {
    for (std::int64_t p = 2; p <= 9; ++p) {
      for (std::int64_t scale = 2; scale <= 40; ++scale) {
        const IndexSet set = IndexSet::blocks(k, k, k * p, 100'000);
        const IndexSet actual = plait::preimage(set, scale, 3, 99'996 / scale);
        ASSERT_LE(actual.pattern_runs(), std::min(scale, k) / std::gcd(scale, k * p) + 1);
        Extents expected;
        for (std::int64_t i = 0; i < 500; ++i)
          if ((scale * i + 3) / k % p == 1) expected.push_back(i);
        ASSERT_EQ(oracle::list_indices(actual.clip(0, 500)), expected) << scale << ' ' << k << ' ' << p;
      }
    }
  }
}

TEST(IndexSetAlgebra, NestsOfAllPairs) {
  // The members of the inner set are local positions of the outer set.
  const std::vector<SetCase> cases = oracle::cases_of_every_kind();
  std::int64_t count = 0;
  for (const SetCase& outer : cases) {
    for (const SetCase& inner : cases) {
      if (++count % oracle::kThinning != 0) continue;
      const IndexSet positions = inner.set.clip(0, outer.set.size());
      Extents expected;
      for (const std::int64_t q : inner.list)
        if (q < outer.set.size()) expected.push_back(outer.list[to_size_t(q)]);
      const IndexSet actual = plait::nest(outer.set, positions);
      SCOPED_TRACE(testing::Message() << oracle::describe(outer.set) << " of " << oracle::describe(positions) << ": "
                                      << oracle::describe(actual));
      check_set(actual, expected, 24);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(IndexSetAlgebra, NestsOfLongSetsRepeat) {
  // The sets contain several common periods, and incomplete ones at both ends.
  for (unsigned mask = 1; mask < 64; mask += 2) {
    for (std::int64_t stride = 2; stride <= 7; ++stride) {
      const SetCase outer = oracle::periodic_case(mask, 6, 1, 4, 700);
      const IndexSet positions = IndexSet::blocks(1, stride / 2, stride, outer.set.size() - 3);
      Extents expected;
      for (const std::int64_t q : oracle::list_indices(positions)) expected.push_back(outer.list[to_size_t(q)]);
      const IndexSet actual = plait::nest(outer.set, positions);
      ASSERT_EQ(oracle::list_indices(actual), expected) << oracle::describe(actual);
      check_invariants(actual);
      ASSERT_LE(actual.pattern_runs(), 6 * stride);
    }
  }
}

TEST(IndexSetAlgebra, IntersectionsOfAllPairs) {
  const std::vector<SetCase> cases = oracle::cases_of_every_kind();
  std::int64_t count = 0;
  for (const SetCase& a : cases) {
    for (const SetCase& b : cases) {
      if (++count % oracle::kThinning != 0) continue;
      Extents expected;
      std::set_intersection(a.list.begin(), a.list.end(), b.list.begin(), b.list.end(), std::back_inserter(expected));
      const IndexSet actual = plait::intersection(a.set, b.set);
      SCOPED_TRACE(testing::Message() << oracle::describe(a.set) << " and " << oracle::describe(b.set) << ": "
                                      << oracle::describe(actual));
      check_set(actual, expected, 24);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(IndexSetAlgebra, ComplementsOfAllSets) {
  for (const SetCase& example : oracle::cases_of_every_kind()) {
    for (const std::int64_t n : {0, 1, 10, 24, 31}) {
      Extents expected;
      for (std::int64_t x = 0; x < n; ++x)
        if (!contains(example.list, x)) expected.push_back(x);
      const IndexSet actual = plait::complement(example.set, n);
      SCOPED_TRACE(testing::Message() << n << " without " << oracle::describe(example.set) << ": "
                                      << oracle::describe(actual));
      check_set(actual, expected, 31);
      check_invariants(actual);
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_TRUE(plait::complement(actual, n).same_members(example.set.clip(0, n)));
    }
  }
}

TEST(IndexSetAlgebra, LargeValues) {
  const IndexSet odd = IndexSet::blocks(1, 1, 2, INT64_MAX);
  EXPECT_EQ(plait::complement(odd, INT64_MAX).size(), kHuge);
  EXPECT_TRUE(plait::preimage(odd, 2, 0, kHuge).empty());
  EXPECT_EQ(plait::preimage(odd, 2, 1, kHuge - 1), IndexSet::range(0, kHuge - 1));
  EXPECT_TRUE(plait::preimage(odd, INT64_MAX, 0, 5).empty());  // only i = 0 has an image below the end
  EXPECT_EQ(plait::preimage(odd, INT64_MAX - 2, 0, 5), IndexSet::range(1, 2));
  EXPECT_EQ(plait::preimage(odd, -1, INT64_MAX - 1, INT64_MAX).at(0), 1);
  EXPECT_EQ(plait::preimage(odd, INT64_MIN, INT64_MAX - 2, 5), IndexSet::range(0, 1));
  const IndexSet blocks = IndexSet::periodic(0, kHuge / 3, {{0, 10}, {20, 10}}, 0, kHuge);
  // The images of i are 0, 7, 14, ...: two of them, 0 and 7, are in [0, 10), and 21 and 28 are in [20, 30).
  const IndexSet sevenths = plait::preimage(blocks, 7, 0, kHuge / 7);
  EXPECT_EQ(sevenths.at(0), 0);
  EXPECT_EQ(sevenths.at(2), 3);
  for (std::int64_t i = 0; i < sevenths.size(); ++i) ASSERT_TRUE(blocks.contains(7 * sevenths.at(i)));
  EXPECT_EQ(sevenths.size(), plait::intersection(blocks, IndexSet::blocks(0, 1, 7, kHuge / 7 * 7)).size());
  const IndexSet positions = IndexSet::blocks(3, 2, 5, 60);
  const IndexSet nested = plait::nest(blocks, positions);
  EXPECT_EQ(nested.size(), 24);
  EXPECT_EQ(nested.at(23), blocks.at(59));
  EXPECT_EQ(nested.at(2), blocks.at(8));
}

TEST(IndexSetAlgebra, TheTimeDoesNotDependOnTheSizeOfTheDimension) {
  constexpr std::int64_t kMax = 1'000'000'000'000'000;
  const std::clock_t start = std::clock();
  std::int64_t sum = 0;  // of all sizes, so that no computation can be omitted
  for (std::int64_t i = 0; i < 100; ++i) {
    const IndexSet a = IndexSet::blocks(i * 3, 3, 300'000'000 + i, kMax);
    const IndexSet b = IndexSet::periodic(0, 1'000'003, {{0, 5 + i}, {500, 400}}, 0, kMax);
    sum += plait::preimage(a, 1'000'003, i, 900'000'000).size();
    sum += plait::preimage(a, -3, kMax - 1, kMax / 3).size();
    sum += plait::preimage(b, 7, i, kMax / 7).size();
    sum += plait::intersection(IndexSet::blocks(i, 2, 1001, kMax), IndexSet::blocks(0, 5, 77, kMax)).size();
    sum += plait::nest(b, IndexSet::blocks(i, 5, 100, b.size())).size();
    sum += plait::complement(b, kMax).size();
  }
  EXPECT_GT(sum, 0);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 20 : 2);
}

}  // namespace
