// Reads of the same bytes by all ranks: the store is read once.
#include "access/same.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using plait::Error;
using plait::transport::Transport;
using plait::transport::thread::run_team;

TEST(ReadSame, ReadsTheStoreOnce) {
  constexpr std::int64_t kBytes = 10'000;
  constexpr std::int64_t kOffset = 3;  // of the segment that is read
  for (const Ranks& ranks : all_ranks()) {
    plait::store::memory::MemoryStore store(kBytes + kOffset);
    for (std::size_t i = 0; i < store.bytes().size(); ++i) store.bytes()[i] = static_cast<std::byte>(i * 7);
    std::atomic<std::int64_t> failures{0};
    for (const std::int64_t failing_read : {-1, 2}) {  // -1: none
      const std::int64_t before = store.segments();
      if (failing_read >= 0) store.fail_at(before + failing_read);
      run_team(ranks.count, [&](Transport& inner) {
        std::optional<wrapped::SeveralNodes> nodes;
        if (ranks.per_node > 0) nodes.emplace(inner, ranks.per_node);
        Transport& transport = nodes ? static_cast<Transport&>(*nodes) : inner;
        std::vector<std::byte> actual(kBytes);
        plait::collective::prepare(transport);
        plait::collective::agree(transport, nullptr);
        try {
          plait::collective::agree(transport, plait::collective::caught([&] {
                                     plait::access::read_same(transport, store, {kOffset, actual.data(), kBytes}, 2000);
                                   }));
          EXPECT_TRUE(std::equal(actual.begin(), actual.end(), store.bytes().begin() + kOffset));
        } catch (const Error& error) {
          EXPECT_EQ(error.system_code(), EIO);
          ++failures;
        }
      });
      const std::int64_t reads = ranks.count == 1 ? 1 : 10;  // 10 windows of 1000 bytes, two of which fit in 2000 bytes
      if (failing_read < 0) {
        EXPECT_EQ(store.segments() - before, reads);
      } else if (ranks.count > 1) {
        EXPECT_EQ(failures, ranks.count);
      }
    }
  }
}

}  // namespace
