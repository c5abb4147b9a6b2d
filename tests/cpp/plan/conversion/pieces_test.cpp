// Intersections of index sets, compared with the intersections of lists, and for sizes that are too large for lists.
#include "plan/conversion/pieces.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <numeric>
#include <random>
#include <sstream>

#include "oracle.hpp"
#include "pieces_case.hpp"
#include "plan/conversion/partners.hpp"

namespace {

using oracle::by_common_position;
using oracle::check_normalized;
using oracle::check_positions;
using oracle::CommonIndices;
using oracle::count_runs;
using oracle::expand;
using oracle::expected_pieces;
using oracle::to_size_t;
using plait::Distribution;
using plait::Extents;
using plait::IndexSet;
using plait::Layout;
using plait::plan::clip;
using plait::plan::elements;
using plait::plan::intersect;
using plait::plan::Piece;
using plait::plan::Pieces;
using plait::plan::runs;
using plait::plan::solve_congruence;

/// Returns ranges and blocks of indices below 31, some of them clipped.
std::vector<IndexSet> small_sets() {
  std::vector<IndexSet> sets{IndexSet::range(0, 0), IndexSet::range(0, 17), IndexSet::range(3, 9),
                             IndexSet::range(4, 5)};
  for (const std::int64_t origin : {0, 1, 4}) {
    for (std::int64_t stride = 1; stride <= 7; ++stride) {
      for (std::int64_t length = 1; length <= std::min<std::int64_t>(stride, 4); ++length) {
        for (const std::int64_t end : {13, 20, 31}) {
          sets.push_back(IndexSet::blocks(origin, length, stride, end));
          sets.push_back(sets.back().clip(6, 26));
          sets.push_back(sets.back().clip(3, 11));
        }
      }
    }
  }
  return sets;
}

TEST(Pieces, IntersectionsOfAllPairsOfSmallSets) {
  const std::vector<IndexSet> sets = small_sets();
  std::vector<Extents> lists;
  for (const IndexSet& set : sets) lists.push_back(oracle::list_indices(set));
  std::size_t count = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t j = 0; j < sets.size(); ++j) {
      if (++count % to_size_t(oracle::kThinning) != 0) continue;
      const Pieces pieces = intersect(sets[i], sets[j]);
      const CommonIndices actual = expand(pieces);
      const CommonIndices expected = expected_pieces(lists[i], lists[j]);
      const auto trace = [&] {
        std::ostringstream out;
        for (const IndexSet& s : {sets[i], sets[j]})
          out << '[' << s.begin << ',' << s.end << ") " << s.origin << '+' << s.length << '/' << s.stride << "  ";
        return out.str();
      };
      ASSERT_EQ(by_common_position(actual), expected) << trace();
      ASSERT_EQ(elements(pieces), static_cast<std::int64_t>(expected.size())) << trace();
      ASSERT_EQ(runs(pieces), count_runs(expected)) << trace();
      check_normalized(pieces);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Pieces, LongPeriodsThatRepeat) {
  // The sets contain several common periods, and incomplete ones at both ends.
  for (std::int64_t stride_a = 2; stride_a <= 9; ++stride_a) {
    for (std::int64_t stride_b = 2; stride_b <= 9; ++stride_b) {
      for (std::int64_t length_a = 1; length_a < stride_a; ++length_a) {
        for (std::int64_t length_b = 1; length_b < stride_b; ++length_b) {
          if ((stride_a + stride_b + length_a + length_b) % oracle::kThinning != 0) continue;
          for (const std::int64_t shift : {0, 1, 5}) {
            const IndexSet a = IndexSet::blocks(0, length_a, stride_a, 250).clip(shift, 249);
            const IndexSet b = IndexSet::blocks(shift, length_b, stride_b, 247);
            const Pieces pieces = intersect(a, b);
            const CommonIndices expected = expected_pieces(oracle::list_indices(a), oracle::list_indices(b));
            ASSERT_EQ(by_common_position(expand(pieces)), expected);
            ASSERT_EQ(runs(pieces), count_runs(expected));
            const std::int64_t period = std::lcm(stride_a, stride_b);
            if (250 / period > 4) {  // the pieces of one period repeat; those at the ends are separate
              ASSERT_LE(static_cast<std::int64_t>(pieces.size()), 3 * (length_a + length_b) + 6);
            }
          }
        }
      }
    }
  }
}

TEST(Pieces, ClipsAtCommonPositions) {
  const std::vector<IndexSet> sets = small_sets();
  std::mt19937_64 random(7);
  for (std::int64_t n = 0; n < 4000 / oracle::kThinning; ++n) {
    const IndexSet& a = sets[random() % sets.size()];
    const IndexSet& b = sets[random() % sets.size()];
    const Pieces pieces = intersect(a, b);
    const CommonIndices whole = by_common_position(expand(pieces));
    const auto size = static_cast<std::int64_t>(whole.size());
    for (std::int64_t begin = 0; begin <= size; ++begin) {
      for (std::int64_t end = begin; end <= size + 1; ++end) {
        CommonIndices expected(whole.begin() + begin, whole.begin() + std::min(end, size));
        for (auto& index : expected) index[2] -= begin;
        const Pieces clipped = clip(pieces, begin, end);
        ASSERT_EQ(by_common_position(expand(clipped)), expected) << begin << ':' << end;
        ASSERT_EQ(elements(clipped), static_cast<std::int64_t>(expected.size()));
        ASSERT_LE(clipped.size(), 3 * pieces.size());
        check_normalized(clipped);
      }
    }
  }
}

TEST(Pieces, CongruencesAreSolved) {
  for (std::int64_t a = 1; a <= 40; ++a) {
    for (std::int64_t b = 1; b <= 40; ++b) {
      const auto [divisor, inverse] = solve_congruence(a, b);
      ASSERT_EQ(divisor, std::gcd(a, b));
      ASSERT_GE(inverse, 0);
      ASSERT_TRUE(inverse < b / divisor);
      ASSERT_EQ((a * inverse - divisor) % b, 0) << a << ' ' << b;
    }
  }
  const auto [divisor, inverse] = solve_congruence(INT64_MAX, INT64_MAX - 1);
  EXPECT_EQ(divisor, 1);
  EXPECT_EQ(inverse, 1);
}

TEST(Pieces, TheTimeDependsOnPiecesNotOnIndices) {
  const std::clock_t start = std::clock();
  constexpr std::int64_t kMax = 1'000'000'000'000'000;
  std::mt19937_64 random(11);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (std::int64_t n = 0; n < 300 / oracle::kThinning; ++n) {
    // Layout b has few coordinates. The intersections of `set` with all of them are checked to add up to `set`.
    const std::int64_t size = pick(kMax / 2, kMax);
    const Layout b({size}, {Distribution::cyclic(pick(1, 40))}, {pick(2, 12)});
    const Layout a({size}, {Distribution::cyclic(pick(1, 60))}, {pick(1, 1'000'000'000)});
    const IndexSet set = a.index_set(0, pick(0, a.size() - 1));
    std::int64_t total = 0;
    for (std::int64_t c = 0; c < b.size(); ++c) {
      const IndexSet other = b.index_set(0, c);
      const Pieces pieces = intersect(set, other);
      check_positions(set, other, pieces);
      if (testing::Test::HasFatalFailure()) return;
      total += elements(pieces);
      ASSERT_LE(pieces.size(), 800U);
    }
    ASSERT_EQ(total, set.size());
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 20 : 2);
}

TEST(Pieces, CommonPeriodsPastTwoToThe63) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  // Coprime strides: the common period is about 10^22, and at most one pair of blocks intersects in 10^15 indices.
  const IndexSet a = IndexSet::blocks(5, 2, 100'000'000'003, 1'000'000'000'000'000);
  const IndexSet b = IndexSet::blocks(6, 3, 100'000'000'019, 1'000'000'000'000'000);
  const Pieces pieces = intersect(a, b);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0], (Piece{1, 1, 1, 0, 0, 0, 0, 0}));
  // Blocks 8 and 6 of the two sets begin together: 8*75 = 6*100 = 600, in units of 10^15.
  const std::int64_t unit = 1'000'000'000'000'000;
  const Pieces single_indices =
      intersect(IndexSet::blocks(0, 1, 75 * unit, kHuge), IndexSet::blocks(0, 1, 100 * unit, kHuge));
  EXPECT_EQ(elements(single_indices), kHuge / (300 * unit) + 1);
  const Pieces halves = intersect(IndexSet::blocks(0, kHuge / 4, kHuge / 2, kHuge), IndexSet::range(7, kHuge));
  EXPECT_EQ(elements(halves), kHuge / 2 - 7);
  EXPECT_EQ(runs(halves), 2);
  const Pieces every_sixth = intersect(IndexSet::blocks(0, 1, 2, INT64_MAX), IndexSet::blocks(0, 1, 3, INT64_MAX));
  EXPECT_EQ(elements(every_sixth), (INT64_MAX - 1) / 6 + 1);
  EXPECT_LE(every_sixth.size(), 4U);
}

TEST(Pieces, PartnersIncludeAllOwnersOfEachSet) {
  std::int64_t count = 0;
  for (std::int64_t size = 1; size <= 14; ++size) {
    for (std::int64_t source_extent = 1; source_extent <= 5; ++source_extent) {
      for (std::int64_t target_extent = 1; target_extent <= 7; ++target_extent) {
        for (const Distribution& from : oracle::distributions_for(size, source_extent, 4)) {
          for (const Distribution& to : oracle::distributions_for(size, target_extent, 4)) {
            if (++count % (3 * oracle::kThinning) != 0) continue;
            const Layout source({size}, {from}, {source_extent});
            const Layout target({size}, {to}, {target_extent});
            for (std::int64_t c = 0; c < source_extent; ++c) {
              const IndexSet set = source.index_set(0, c);
              Extents owners;
              for (const std::int64_t x : oracle::list_indices(set)) owners.push_back(target.owner(0, x));
              std::sort(owners.begin(), owners.end());
              owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
              const Extents actual = plait::plan::partners(set, target, 0);
              ASSERT_TRUE(std::includes(actual.begin(), actual.end(), owners.begin(), owners.end()));
              ASSERT_TRUE(std::is_sorted(actual.begin(), actual.end()));
              ASSERT_TRUE(std::adjacent_find(actual.begin(), actual.end()) == actual.end());
              ASSERT_TRUE(actual.empty() || (actual.front() >= 0 && actual.back() < target_extent));
              const bool both_cyclic =
                  from.kind == Distribution::Kind::kCyclic && to.kind == Distribution::Kind::kCyclic;
              if (!both_cyclic) {  // otherwise partners() may list coordinates that would own indices of a longer array
                ASSERT_EQ(actual, owners)
                    << oracle::describe(source) << " coordinate " << c << " to " << oracle::describe(target);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
