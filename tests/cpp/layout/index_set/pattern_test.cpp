// Index sets with several runs in each period, compared with lists of indices.
#include <gtest/gtest.h>

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

using Runs = std::vector<plait::Run>;  // the full name, because testing::Test has a member Run

constexpr std::int64_t kMaxIndex = 20;
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(IndexSetPattern, AgreesWithListsOnAllShortPeriods) {
  std::int64_t count = 0;
  for (std::int64_t bits = 1; bits <= 6; ++bits) {
    for (unsigned mask = 0; mask < 1U << bits; ++mask) {
      for (const std::int64_t origin : {-7, 0, 3}) {
        for (std::int64_t begin = 0; begin <= 7; ++begin) {
          for (std::int64_t end = begin; end <= kMaxIndex; ++end) {
            if (++count % oracle::kThinning != 0) continue;
            const SetCase example = oracle::periodic_case(mask, bits, origin, begin, end);
            SCOPED_TRACE(testing::Message() << mask << " of " << bits << " from " << origin << " in " << begin << ','
                                            << end << ": " << oracle::describe(example.set));
            check_set(example.set, example.list, kMaxIndex);
            check_invariants(example.set);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(IndexSetPattern, ClipsAndTranslations) {
  for (std::int64_t bits = 3; bits <= 6; ++bits) {
    for (unsigned mask = 1; mask < 1U << bits; mask += oracle::kSanitized ? 3 : 1) {
      const IndexSet whole = oracle::periodic_case(mask, bits, 1, 0, kMaxIndex).set;
      for (std::int64_t begin = -1; begin <= kMaxIndex + 1; ++begin) {
        for (std::int64_t end = begin - 1; end <= kMaxIndex + 1; ++end) {
          SCOPED_TRACE(testing::Message() << oracle::describe(whole) << " clipped to " << begin << ',' << end);
          const IndexSet clipped = whole.clip(begin, end);
          const Extents list =
              oracle::list_of_mask(mask, bits, 1, std::max<std::int64_t>(begin, 0), std::min(end, kMaxIndex));
          check_set(clipped, list, kMaxIndex);
          const std::int64_t distance = 5 * (begin - 3);
          Extents shifted;
          for (const std::int64_t x : list) shifted.push_back(x + distance);
          const IndexSet translated = clipped.translate(distance);
          ASSERT_EQ(oracle::list_indices(translated), shifted);
          ASSERT_EQ(translated.size(), static_cast<std::int64_t>(shifted.size()));
          for (std::int64_t i = 0; i < translated.size(); ++i) ASSERT_EQ(translated.at(i), shifted[to_size_t(i)]);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(IndexSetPattern, AgreesWithListsOfRuns) {
  constexpr std::int64_t kBits = 12;
  for (unsigned mask = 0; mask < 1U << kBits; mask += oracle::kThinning) {
    const IndexSet set = IndexSet::of_runs(oracle::runs_of_mask(mask, kBits));
    SCOPED_TRACE(testing::Message() << mask << ": " << oracle::describe(set));
    check_set(set, oracle::list_of_mask(mask, kBits, 0, 0, kBits), kBits);
    check_invariants(set);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(IndexSetPattern, HasTheSimplestForm) {
  // Adjacent runs, also across the end of the period, and periods that consist of shorter periods.
  EXPECT_EQ(IndexSet::periodic(0, 6, {{0, 2}, {2, 1}}, 0, 30), IndexSet::blocks(0, 3, 6, 30));
  const IndexSet across_end = IndexSet::periodic(0, 6, {{0, 1}, {5, 1}}, 0, 30);
  EXPECT_EQ(across_end, (IndexSet{0, 30, -1, 2, 6}));
  EXPECT_EQ(IndexSet::periodic(0, 12, {{0, 1}, {4, 1}, {8, 1}}, 0, 40), IndexSet::blocks(0, 1, 4, 40));
  const IndexSet repeated = IndexSet::periodic(0, 16, {{0, 1}, {2, 3}, {8, 1}, {10, 3}}, 0, 100);
  EXPECT_EQ(repeated.stride, 8);
  EXPECT_EQ(repeated, IndexSet::periodic(-8, 8, {{0, 1}, {2, 3}}, 0, 100));
  EXPECT_EQ(IndexSet::periodic(3, 4, {{0, 2}, {2, 2}}, 5, 9), IndexSet::range(5, 9));
  EXPECT_TRUE(IndexSet::periodic(3, 4, {}, 5, 9).contiguous());
  EXPECT_TRUE(IndexSet::periodic(3, 4, {{1, 0}}, 5, 9).empty());
  EXPECT_EQ(IndexSet::periodic(0, 10, {{0, 1}, {4, 3}}, 3, 10), IndexSet::range(4, 7));
  EXPECT_EQ(IndexSet::of_runs({{2, 1}, {5, 1}, {8, 1}}), IndexSet::blocks(2, 1, 3, 9));
  EXPECT_EQ(IndexSet::of_runs({{2, 2}, {4, 3}}), IndexSet::range(2, 7));
  EXPECT_TRUE(IndexSet::of_runs({}).empty());
  // The last run of a list may be truncated.
  const IndexSet list = IndexSet::of_runs({{1, 1}, {3, 4}, {11, 1}, {13, 4}, {21, 1}, {23, 2}});
  EXPECT_EQ(list.pattern_runs(), 2);
  EXPECT_EQ(list.stride, 10);
  // The shortest repeating prefix does not continue up to the last run; a longer prefix does.
  EXPECT_EQ(IndexSet::of_runs({{0, 3}, {10, 1}, {20, 3}, {30, 3}}).pattern_runs(), 3);
  // A long list that does not repeat stores only the runs in the range.
  Runs runs;
  for (std::int64_t i = 0; i < 1000; ++i) runs.push_back({i * i, 1 + i % 2});
  EXPECT_LE(IndexSet::periodic(0, 1'000'000, runs, 500, 1000).pattern_runs(), 10);
  EXPECT_EQ(IndexSet::blocks(0, 3, 10, 9), IndexSet::range(0, 3));
}

TEST(IndexSetPattern, SetsAreEqualIfTheirMembersAre) {
  const std::vector<SetCase> cases = oracle::cases_of_every_kind();
  for (const SetCase& a : cases) {
    ASSERT_EQ(a.set, IndexSet(a.set));
    for (const SetCase& b : cases) {
      ASSERT_EQ(a.set.same_members(b.set), a.list == b.list)
          << oracle::describe(a.set) << "  " << oracle::describe(b.set);
      if (a.set == b.set) {
        ASSERT_EQ(a.list, b.list);
      }
    }
  }
  // A clipped set has the pattern of the whole set. It equals a set that is made from its members.
  for (const SetCase& a : cases) {
    const IndexSet clipped = a.set.clip(4, 15);
    Extents list;
    Runs runs;
    for (const std::int64_t x : a.list)
      if (x >= 4 && x < 15) runs.push_back({x, 1});
    ASSERT_TRUE(clipped.same_members(IndexSet::of_runs(runs)));
    ASSERT_TRUE(IndexSet::of_runs(runs).same_members(clipped));
  }
}

TEST(IndexSetPattern, ComparesLongSetsByTheirPeriods) {
  const auto pattern = [](std::int64_t last, std::int64_t end) {
    return IndexSet::periodic(0, 1'000'003, {{0, 2}, {10, 5}, {last, 1}}, 3, end);
  };
  EXPECT_TRUE(pattern(999'999, kHuge).same_members(pattern(999'999, kHuge + 5)));  // [kHuge, kHuge + 5) has no member
  EXPECT_FALSE(pattern(999'999, kHuge).same_members(pattern(999'998, kHuge)));
  EXPECT_FALSE(pattern(999'999, kHuge).same_members(pattern(999'999, kHuge - 2'000'000)));
  // Two thirds of all indices, with periods of 3000 and of 3; then with a difference in one index.
  Runs runs;
  for (std::int64_t i = 0; i < 3000; i += 3) runs.push_back({i, 2});
  EXPECT_TRUE(IndexSet::periodic(0, 3000, runs, 0, kHuge).same_members(IndexSet::blocks(0, 2, 3, kHuge)));
  runs.back().length = 1;
  EXPECT_FALSE(IndexSet::periodic(0, 3000, runs, 0, kHuge).same_members(IndexSet::blocks(0, 2, 3, kHuge)));
}

TEST(IndexSetPattern, LargestIndicesDoNotOverflow) {
  const IndexSet set = IndexSet::periodic(0, 7, {{0, 1}, {2, 3}}, 0, INT64_MAX);
  const std::int64_t periods = INT64_MAX / 7;
  ASSERT_EQ(INT64_MAX % 7, 0);
  EXPECT_EQ(set.size(), periods * 4);
  EXPECT_EQ(set.runs(), periods * 2);
  EXPECT_EQ(set.at(periods * 4 - 1), INT64_MAX - 3);
  EXPECT_EQ(set.count_below(INT64_MAX - 3), periods * 4 - 1);
  EXPECT_EQ(set.run_end(INT64_MAX - 5), INT64_MAX - 2);
  EXPECT_EQ(set.next(INT64_MAX - 2), INT64_MAX);
  EXPECT_EQ(set.longest_run(), 3);
  // The range contains less than two periods; the origin of its first period is far below zero.
  const IndexSet rare = IndexSet::periodic(kHuge, kHuge + 1, {{0, 5}, {kHuge - 1, 1}}, 0, INT64_MAX);
  EXPECT_EQ(rare.size(), 10);
  EXPECT_EQ(rare.at(0), 0);
  EXPECT_EQ(rare.at(4), kHuge - 2);
  EXPECT_EQ(rare.at(9), kHuge + 4);
  EXPECT_EQ(rare.run_end(kHuge), kHuge + 5);
  const IndexSet distant_runs = IndexSet::of_runs({{0, 1}, {kHuge, kHuge - 5}, {INT64_MAX - 1, 1}});
  EXPECT_EQ(distant_runs.size(), kHuge - 3);
  EXPECT_EQ(distant_runs.end, INT64_MAX);
  EXPECT_EQ(distant_runs.at(kHuge - 4), INT64_MAX - 1);
  EXPECT_EQ(distant_runs.run_end(INT64_MAX - 1), INT64_MAX);
  EXPECT_EQ(distant_runs.clip(kHuge + 3, INT64_MAX).translate(-kHuge).at(0), 3);
  const IndexSet low = IndexSet::periodic(0, INT64_MAX, {{0, 1}, {kHuge, 2}, {kHuge + 4, 1}}, kHuge - 1, INT64_MAX);
  EXPECT_EQ(low.translate(-kHuge).at(0), 0);
  EXPECT_EQ(low.translate(-kHuge).at(2), 4);
}

}  // namespace
