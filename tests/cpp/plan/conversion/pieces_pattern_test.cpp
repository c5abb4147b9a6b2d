// Intersections of index sets with several runs in each period, and of lists of runs, compared with lists of indices.
#include <gtest/gtest.h>

#include <ctime>
#include <numeric>
#include <random>

#include "index_set_case.hpp"
#include "oracle.hpp"
#include "pieces_case.hpp"
#include "plan/conversion/pieces.hpp"

namespace {

using oracle::by_common_position;
using oracle::check_normalized;
using oracle::check_positions;
using oracle::CommonIndices;
using oracle::count_runs;
using oracle::expand;
using oracle::expected_pieces;
using oracle::SetCase;
using oracle::to_size_t;
using plait::Extents;
using plait::IndexSet;
using plait::plan::elements;
using plait::plan::intersect;
using plait::plan::Piece;
using plait::plan::Pieces;
using plait::plan::runs;

using Runs = std::vector<plait::Run>;

/// Compares the intersection of two sets with that of their lists.
void check(const SetCase& a, const SetCase& b) {
  SCOPED_TRACE(testing::Message() << oracle::describe(a.set) << " and " << oracle::describe(b.set));
  const Pieces pieces = intersect(a.set, b.set);
  const CommonIndices expected = expected_pieces(a.list, b.list);
  ASSERT_EQ(by_common_position(expand(pieces)), expected);
  ASSERT_EQ(elements(pieces), static_cast<std::int64_t>(expected.size()));
  ASSERT_EQ(runs(pieces), count_runs(expected));
  ASSERT_TRUE(
      std::is_sorted(pieces.begin(), pieces.end(), [](const Piece& s, const Piece& t) { return s.common < t.common; }));
  check_normalized(pieces);
}

TEST(PiecesPattern, AllPairsOfSmallSetsOfEveryKind) {
  const std::vector<SetCase> cases = oracle::cases_of_every_kind();
  std::int64_t count = 0;
  for (const SetCase& a : cases) {
    for (const SetCase& b : cases) {
      if (++count % oracle::kThinning != 0) continue;
      check(a, b);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(PiecesPattern, PeriodsThatRepeat) {
  // The sets contain several common periods, and incomplete ones at both ends. A clipped set has the pattern of the
  // longer set from which it was made.
  std::int64_t count = 0;
  for (std::int64_t bits_a = 2; bits_a <= 6; ++bits_a) {
    for (std::int64_t bits_b = 2; bits_b <= 6; ++bits_b) {
      for (unsigned mask_a = 1; mask_a < 1U << bits_a; ++mask_a) {
        for (unsigned mask_b = 1; mask_b < 1U << bits_b; ++mask_b) {
          if (++count % oracle::kThinning != 0) continue;
          const std::int64_t shift = count % 7;
          const SetCase a = oracle::periodic_case(mask_a, bits_a, -3, shift, 130);
          SetCase b = oracle::periodic_case(mask_b, bits_b, shift, 2, 140);
          b.set = b.set.clip(4, 120 + shift);
          std::erase_if(b.list, [&](std::int64_t x) { return x < 4 || x >= 120 + shift; });
          check(a, b);
          if (testing::Test::HasFatalFailure()) return;
          const std::int64_t period = std::lcm(bits_a, bits_b);
          const Pieces pieces = intersect(a.set, b.set);
          ASSERT_LE(static_cast<std::int64_t>(pieces.size()), 3 * period / 2 + 3);
        }
      }
    }
  }
}

/// Returns a set of at most `max_runs` random runs that repeat every `stride`, and the list of its members.
SetCase random_case(std::mt19937_64& random, std::int64_t stride, std::int64_t max_runs, std::int64_t begin,
                    std::int64_t end) {
  Runs runs_in_period;
  std::int64_t x = static_cast<std::int64_t>(random()) & 15;
  while (static_cast<std::int64_t>(runs_in_period.size()) < max_runs) {
    const std::int64_t length = 1 + (static_cast<std::int64_t>(random()) & 7);
    if (x + length > stride) break;
    runs_in_period.push_back({x, length});
    x += length + 1 + (static_cast<std::int64_t>(random()) & 31);
  }
  std::vector<bool> is_member(to_size_t(stride), false);
  for (const plait::Run& run : runs_in_period)
    for (std::int64_t i = 0; i < run.length; ++i) is_member[to_size_t(run.begin + i)] = true;
  SetCase result{IndexSet::periodic(0, stride, runs_in_period, begin, end), {}};
  for (std::int64_t i = begin; i < end; ++i)
    if (is_member[to_size_t(i % stride)]) result.list.push_back(i);
  return result;
}

TEST(PiecesPattern, RandomPeriodsByWalksAndCongruences) {
  // intersect() solves congruences if there are few runs, and strides with a large common divisor. It walks over many
  // or long runs.
  std::mt19937_64 random(3);
  for (std::int64_t n = 0; n < 1500 / oracle::kThinning; ++n) {
    const std::int64_t common_divisor = 1 + static_cast<std::int64_t>(random() % 60);
    const std::int64_t stride_a = common_divisor * (1 + static_cast<std::int64_t>(random() % 30));
    const std::int64_t stride_b = common_divisor * (1 + static_cast<std::int64_t>(random() % 30));
    const auto max_a = static_cast<std::int64_t>(1 + random() % 8);
    const auto max_b = static_cast<std::int64_t>(1 + random() % 8);
    const auto begin = static_cast<std::int64_t>(random() % 300);
    const SetCase a = random_case(random, stride_a + 16, max_a, begin, 20'000);
    const SetCase b = random_case(random, stride_b + 16, max_b, 100, 19'900 + begin);
    check(a, b);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(PiecesPattern, LargeValues) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const IndexSet period_7 = IndexSet::periodic(0, 7, {{0, 1}, {2, 3}}, 0, INT64_MAX);
  const Pieces whole = intersect(period_7, IndexSet::range(0, INT64_MAX));
  EXPECT_EQ(elements(whole), period_7.size());
  EXPECT_EQ(runs(whole), period_7.runs());
  check_positions(period_7, IndexSet::range(0, INT64_MAX), whole);
  const IndexSet period_11 = IndexSet::periodic(kHuge, 11, {{1, 1}, {5, 4}}, 0, INT64_MAX);
  check_positions(period_7, period_11, intersect(period_7, period_11));
  EXPECT_EQ(elements(intersect(period_7, period_11)), plait::intersection(period_7, period_11).size());
  // Strides whose common period far exceeds 2^63.
  const IndexSet a = IndexSet::periodic(0, kHuge / 3, {{0, 10}, {100, 10}, {kHuge / 4, 1000}}, 0, INT64_MAX);
  const IndexSet b = IndexSet::periodic(0, kHuge / 3 - 1, {{3, 10}, {102, 10}, {kHuge / 4 + 7, 1}}, 0, INT64_MAX);
  const Pieces few = intersect(a, b);
  check_positions(a, b, few);
  std::int64_t expected = 0;
  for (std::int64_t x = a.next(0); x < a.end; x = a.next(a.run_end(x)))
    for (std::int64_t i = x; i < a.run_end(x); ++i) expected += b.contains(i) ? 1 : 0;
  EXPECT_EQ(elements(few), expected);
}

TEST(PiecesPattern, TheTimeDoesNotDependOnTheSizeOfTheDimension) {
  constexpr std::int64_t kMax = 1'000'000'000'000'000;
  constexpr std::int64_t kRounds = 200;
  const std::clock_t start = std::clock();
  std::size_t pieces = 0;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    const IndexSet a = IndexSet::periodic(0, 1'000'000, {{i, 3}, {1000, 2}, {500'000, 7}}, 0, kMax);
    // A large common divisor, coprime periods with a common period beyond the range, and short periods.
    const IndexSet b = IndexSet::periodic(i, 1'200'000, {{0, 5}, {70, 1}, {90'001, 3}}, 0, kMax);
    const IndexSet c = IndexSet::periodic(0, 999'999'937, {{0, 4}, {999, 4}}, 0, kMax);
    const IndexSet d = IndexSet::periodic(0, 64, {{0, 4}, {9, 4}, {40, 1}}, i, kMax);
    for (const IndexSet& other : {b, c}) pieces += intersect(a, other).size();
    pieces += intersect(d, IndexSet::blocks(0, 3, 24, kMax)).size();
    pieces += intersect(d, IndexSet::range(7, kMax)).size();
  }
  EXPECT_GT(pieces, 0U);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("nanoseconds_each", static_cast<int>(seconds * 1e9 / (4 * kRounds)));
  EXPECT_LT(seconds, oracle::kSanitized ? 10 : 0.2);
}

TEST(PiecesPattern, TheTimeForListsDependsOnTheirRuns) {
  // Two lists of a hundred thousand runs without repetition, and small parts of one of them.
  Runs list_a;
  Runs list_b;
  std::int64_t x = 0;
  std::int64_t y = 0;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    list_a.push_back({x, 1 + i % 3});
    x += 5 + i * i % 11;
    list_b.push_back({y, 1 + i % 5});
    y += 7 + i * i % 13 * i % 7;
  }
  const std::clock_t start = std::clock();
  const IndexSet a = IndexSet::of_runs(list_a);
  const IndexSet b = IndexSet::of_runs(list_b);
  const Pieces pieces = intersect(a, b);
  check_positions(a, b, pieces);
  EXPECT_EQ(elements(pieces), plait::intersection(a, b).size());
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const IndexSet part = a.clip(i * 20, i * 20 + 300);
    ASSERT_LE(intersect(part, b).size(), 80U);
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 20 : 2);
}

}  // namespace
