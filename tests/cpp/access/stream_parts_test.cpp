// What streams are made of: a position that ranks share, sums over ranks, one read for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>

#include "access/access.hpp"
#include "access/same.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "collective/scan.hpp"
#include "core/stream/shared_position.hpp"
#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using plait::Error;
using plait::core::SharedPosition;
using plait::transport::MemoryCounter;
using plait::transport::Transport;
using plait::transport::thread::run_team;

TEST(SharedPosition, NeverPassesTheEnd) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t end : {std::int64_t{0}, std::int64_t{10}, kMost - 5, kMost}) {
    auto word = std::make_shared<std::atomic<std::int64_t>>(0);
    SharedPosition position(std::make_unique<MemoryCounter>(*word, word), end, 4);
    SharedPosition other(std::make_unique<MemoryCounter>(*word, word), end, 4);
    EXPECT_FALSE(end < kMost && position.take_all(end + 1));
    EXPECT_EQ(position.tell(), 0);
    EXPECT_EQ(position.take(kMost).elements, end);
    EXPECT_EQ(other.tell(), end);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(other.take(kMost).elements, 0);
      EXPECT_EQ(other.take(1).first, end);
      EXPECT_EQ(position.take(1).elements, 0);
    }
    EXPECT_EQ(*word, end);
    EXPECT_TRUE(position.take_all(0));
    EXPECT_FALSE(position.take_all(1));
    if (end == 0) continue;
    other.seek(end - 1);
    EXPECT_EQ(position.take(1).first, end - 1);
    EXPECT_EQ(position.tell(), end);
  }
}

TEST(Scan, AddsUpWhatIsBefore) {
  for (const Ranks& ranks : all_ranks())
    run_team(ranks.count, [&](Transport& inner) {
      std::optional<wrapped::SeveralNodes> nodes;
      if (ranks.on_a_node > 0) nodes.emplace(inner, ranks.on_a_node);
      Transport& transport = nodes ? static_cast<Transport&>(*nodes) : inner;
      const auto me = transport.rank();
      const auto count = transport.size();
      plait::collective::FirstError lacking;
      for (std::int64_t round = 0; round < 20; ++round) {
        plait::collective::Scan scan(transport);
        scan.announce(round * 10 + me);
        plait::collective::agree(transport, nullptr);
        const auto sums = scan.sum(lacking);
        EXPECT_EQ(sums.before, round * 10 * me + me * (me - 1) / 2);
        EXPECT_EQ(sums.all, round * 10 * count + count * (count - 1) / 2);
        plait::collective::agree(transport, nullptr);
      }
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      plait::collective::Scan scan(transport);
      scan.announce(kMost - 1);
      plait::collective::agree(transport, nullptr);
      EXPECT_EQ(scan.sum(lacking).all, count == 1 ? kMost - 1 : kMost);
      plait::collective::agree(transport, nullptr);
    });
}

TEST(ReadSame, ReadsTheStoreOnce) {
  constexpr std::int64_t kBytes = 10'000;
  for (const Ranks& ranks : all_ranks()) {
    plait::store::memory::MemoryStore store(kBytes + 3);
    for (std::size_t i = 0; i < store.bytes().size(); ++i) store.bytes()[i] = static_cast<std::byte>(i * 7);
    std::atomic<std::int64_t> failures{0};
    for (const std::int64_t fails : {-1, 2}) {
      const std::int64_t before = store.segments();
      if (fails >= 0) store.fail_at(before + fails);
      run_team(ranks.count, [&](Transport& inner) {
        std::optional<wrapped::SeveralNodes> nodes;
        if (ranks.on_a_node > 0) nodes.emplace(inner, ranks.on_a_node);
        Transport& transport = nodes ? static_cast<Transport&>(*nodes) : inner;
        std::vector<std::byte> found(kBytes);
        plait::collective::prepare(transport);
        plait::collective::agree(transport, nullptr);
        try {
          plait::collective::agree(transport, plait::collective::caught([&] {
                                     plait::access::read_same(transport, store, {3, found.data(), kBytes}, 2000);
                                   }));
          EXPECT_TRUE(std::equal(found.begin(), found.end(), store.bytes().begin() + 3));
        } catch (const Error& error) {
          EXPECT_EQ(error.system_code(), EIO);
          ++failures;
        }
      });
      const std::int64_t whole = ranks.count == 1 ? 1 : 10;  // windows of 1000 bytes
      if (fails < 0) {
        EXPECT_EQ(store.segments() - before, whole);
      } else if (ranks.count > 1) {
        EXPECT_EQ(failures, ranks.count);
      }
    }
  }
}

}  // namespace
