// Equal segments of long rows, which take their elements from the sources in the same way, and redistributions that use
// them.
#include "exchange/row_segments.hpp"

#include "exchange_case.hpp"

namespace {

using namespace redistribute_case;
using plait::exchange::find_segments;
using plait::exchange::RowSegments;
using plait::exchange::Share;

constexpr std::int64_t kElementBytes = 8;

Layout cyclic(std::int64_t extent, std::int64_t block, std::int64_t ranks) {
  return Layout({extent}, {Distribution::cyclic(block)}, {ranks});
}

/// Returns what each sender contributes to the row of a target rank.
std::vector<Share> make_shares(const Pairs& pairs, std::int64_t target) {
  std::vector<Share> shares;
  for (const std::int64_t sender : pairs.senders(target))
    for (plait::plan::Product& product : pairs.products(sender, target))
      shares.push_back({static_cast<std::size_t>(sender), std::move(product)});
  return shares;
}

std::optional<RowSegments> segments_of_rank_0(const Layout& source, const Layout& target) {
  return find_segments(make_shares(whole_arrays(source, target), 0), 0, target.local_shape(0)[0], kElementBytes);
}

TEST(RowSegments, RepeatAfterTheCommonPeriod) {
  const auto segments = segments_of_rank_0(cyclic(1'000'000, 36, 4), cyclic(1'000'000, 128, 4));
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->length, 2304);  // 2 periods of lcm(4 * 36, 4 * 128) / 4 elements: at least 16 KiB
  EXPECT_EQ(segments->begin, 0);
  EXPECT_EQ(segments->count, 108);
  EXPECT_EQ(segments->advances, (std::vector<std::int64_t>(4, 2304)));
}

/// The pieces of one period are counted from the first common element. Therefore some of them begin in the second
/// period, and those of the last period have no repeats.
TEST(RowSegments, HaveOtherElementsBeforeAndAfterThem) {
  const auto segments = segments_of_rank_0(cyclic(36'000'000, 1500, 4), cyclic(36'000'000, 64, 4));
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->length, 24'000);  // lcm(4 * 1500, 4 * 64) / 4
  EXPECT_GE(segments->count, 370);
}

TEST(RowSegments, DoNotExistIfRunsDoNotRepeatOftenEnough) {
  EXPECT_FALSE(segments_of_rank_0(cyclic(1'000'000, 499, 4), cyclic(1'000'000, 503, 4)));
  EXPECT_FALSE(segments_of_rank_0(cyclic(100'000, 36, 4), cyclic(100'000, 128, 4)));  // 10 segments
  EXPECT_FALSE(segments_of_rank_0(cyclic(1'000'000, 250'000, 4), cyclic(1'000'000, 250'000, 4)));
}

/// Each segment takes from each share what the first one does, at positions advanced by the share's advance.
TEST(RowSegments, TakeTheSameElementsInEachSegment) {
  Random random(21);
  int cases_with_segments = 0;
  for (int i = 0; i < (oracle::kSanitized ? 20 : 200); ++i) {
    const std::int64_t ranks = pick(random, 1, 5);
    const std::int64_t extent = pick(random, 200'000, 400'000);
    const Layout source = cyclic(extent, pick(random, 1, 40), ranks);
    const Layout target = cyclic(extent, pick(random, 1, 40), pick(random, 1, 5));
    SCOPED_TRACE(describe(source, target, kElementBytes, i));
    const std::int64_t rank = pick(random, 0, static_cast<int>(target.size()) - 1);
    const std::vector<Share> shares = make_shares(whole_arrays(source, target), rank);
    const std::int64_t row_elements = target.local_shape(rank)[0];
    const auto segments = find_segments(shares, 0, row_elements, kElementBytes);
    if (!segments) continue;
    ++cases_with_segments;
    ASSERT_GE(segments->length * kElementBytes, 16 << 10);
    ASSERT_LE(segments->begin + segments->count * segments->length, row_elements);
    const auto list_positions = [&](std::size_t share, std::int64_t segment) {
      const std::int64_t begin = segments->begin + segment * segments->length;
      std::vector<std::array<std::int64_t, 2>> pairs;  // positions in source and segment
      for (const plait::plan::Piece& piece :
           plait::plan::clip_target(shares[share].pieces[0], begin, begin + segments->length))
        for (std::int64_t t = 0; t < piece.count; ++t)
          for (std::int64_t k = 0; k < piece.length; ++k)
            pairs.push_back({piece.a + t * piece.a_stride + k - segment * segments->advances[share],
                             piece.b + t * piece.b_stride + k});
      std::sort(pairs.begin(), pairs.end());
      return pairs;
    };
    for (std::size_t share = 0; share < shares.size(); ++share)
      for (const std::int64_t segment : {std::int64_t{1}, segments->count / 2, segments->count - 1})
        ASSERT_EQ(list_positions(share, segment), list_positions(share, 0))
            << "share " << share << ", segment " << segment;
  }
  EXPECT_GT(cases_with_segments, oracle::kSanitized ? 5 : 50);
}

/// Arrays of one row and of three, in shared and in private memory, with and without non-temporal stores.
TEST(RowSegments, FillLongRows) {
  Random random(22);
  for (int i = 0; i < (oracle::kSanitized ? 6 : 40); ++i) {
    plait::exchange::streamed_target = i % 2 == 0 ? 1 : std::int64_t{4} << 20;
    const std::int64_t ranks = pick(random, 2, 4);
    const std::int64_t extent = pick(random, 40'000, 60'000) * ranks;
    const auto layout = [&](std::int64_t block) {
      if (i % 3 > 0) return cyclic(extent, block, ranks);
      return Layout({3, extent}, {Distribution::collapsed(), Distribution::cyclic(block)}, {ranks});
    };
    const Layout source = layout(i % 5 == 0 ? 150 : pick(random, 1, 40));
    const Layout target = layout(i % 5 == 0 ? 64 : pick(random, 1, 40));
    SCOPED_TRACE(describe(source, target, kElementBytes, i));
    std::vector<Bytes> before = make_arrays(source, kElementBytes);
    const std::vector<Bytes> expected = make_arrays(target, kElementBytes);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = access_case::arrays_over(source, before, kElementBytes);
    const auto to = access_case::arrays_over(target, after, kElementBytes);
    run_team(static_cast<int>(ranks), [&](Transport& transport) {
      const auto rank = static_cast<std::size_t>(transport.rank());
      Exchange shared(whole_arrays(source, target), kElementBytes, 1 << 20, transport);
      run_exchange(transport, shared, &from[rank], &to[rank]);
      EXPECT_EQ(*shared.reach(), Reach::kBoth);
      EXPECT_TRUE(after[rank] == expected[rank]);
      wrapped::LikeProcesses processes(transport);
      Exchange exchange(whole_arrays(source, target), kElementBytes, 8 << 20, processes);
      for (int run = 0; run < 2; ++run) {
        std::fill(after[rank].begin(), after[rank].end(), kUntouched);
        run_exchange(processes, exchange, &from[rank], &to[rank]);
        EXPECT_TRUE(after[rank] == expected[rank]) << "in run " << run;
      }
    });
    plait::exchange::streamed_target = std::int64_t{4} << 20;
    ASSERT_TRUE(after == expected);
  }
}

}  // namespace
