// Prefix sums: the sum over the lower ranks, and over all ranks.
#include "collective/scan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "collective/agree.hpp"
#include "collective/first_error.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using plait::transport::Transport;
using plait::transport::thread::run_team;

TEST(Scan, AddsTheValuesOfLowerRanksAndOfAllRanks) {
  for (const Ranks& ranks : all_ranks())
    run_team(ranks.count, [&](Transport& inner) {
      std::optional<wrapped::SeveralNodes> nodes;
      if (ranks.per_node > 0) nodes.emplace(inner, ranks.per_node);
      Transport& transport = nodes ? static_cast<Transport&>(*nodes) : inner;
      const auto rank = transport.rank();
      const auto count = transport.size();
      plait::collective::FirstError error;
      for (std::int64_t round = 0; round < 20; ++round) {
        plait::collective::Scan scan(transport);
        scan.announce(round * 10 + rank);
        plait::collective::agree(transport, nullptr);
        const auto sums = scan.sum(error);
        EXPECT_EQ(sums.before, round * 10 * rank + rank * (rank - 1) / 2);
        EXPECT_EQ(sums.all, round * 10 * count + count * (count - 1) / 2);
        plait::collective::agree(transport, nullptr);
      }
      constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
      plait::collective::Scan scan(transport);
      scan.announce(kMax - 1);
      plait::collective::agree(transport, nullptr);
      EXPECT_EQ(scan.sum(error).all, count == 1 ? kMax - 1 : kMax);  // sums that are too large become kMax
      plait::collective::agree(transport, nullptr);
    });
}

}  // namespace
