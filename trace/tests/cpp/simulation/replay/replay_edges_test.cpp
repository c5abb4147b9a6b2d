// Replays of unusual traces and settings.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "short_replays.hpp"
#include "simulation/replay/replay.hpp"
#include "trace_in_memory.hpp"

namespace plait::simulation {
namespace {

using trace::Event;
using trace::Kind;

using Events = plait_test::TraceInMemory;
using plait_test::kBlock;
using plait_test::kMs;
using plait_test::make_settings;
using plait_test::replay;
using plait_test::spaced_requests;

TEST(ReplayAtTheEdge, UnusedProcessorsAreIdle) {
  ReplaySettings settings = make_settings(0);
  settings.processors.count = 3;
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead), settings);
  EXPECT_EQ(outcome.idle, 2 * outcome.elapsed + 10 * 10 * kMs);
  std::int64_t idle = 0;
  for (const std::int64_t sum : outcome.idle_time.sums()) idle += sum;
  EXPECT_EQ(idle, outcome.idle);
}

TEST(ReplayAtTheEdge, AProcessThatWaitsForNothingContinuesAtOnce) {
  Events events;
  for (const std::uint32_t process : {1U, 2U})
    for (const std::uint32_t call : {0U, 1U}) {
      Event& event = events.add(process, call, 1, Kind::kWrite, 0, kBlock);
      // The two processes access both files in opposite orders, so that both wait for the other.
      event.file = process == 1 ? 1 + call : 2 - call;
      event.flags |= trace::flag::kCollective;
      event.operation = call + 1;
    }
  for (const std::uint32_t process : {1U, 2U}) {
    events.details.files.push_back({process, 1, "a"});
    events.details.files.push_back({process, 2, "b"});
  }
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kDelayed;
  settings.processors.count = 2;
  const auto outcome = replay(std::move(events), settings);
  EXPECT_GT(outcome.unmatched, 0);
  EXPECT_LT(outcome.elapsed, 10 * kMs);  // earlier than the next check of delayed writes
}

TEST(ReplayAtTheEdge, EarlyEvictionsDoNotSplitRequests) {
  Events events;
  events.add(1, 0, 1, Kind::kRead, 0, 64 * kBlock);
  events.add(1, 2, 1, Kind::kRead, 64 * kBlock, 64 * kBlock);
  ReplaySettings settings = make_settings(1000);
  settings.cache.policy = "toss";
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.devices[0].reads, 2);
  EXPECT_EQ(outcome.devices[0].read_bytes, 128 * kBlock);
}

TEST(ReplayAtTheEdge, TruncatingAHugeFileDiscardsItsCachedBlocks) {
  Events events = spaced_requests(4, 5, Kind::kWrite);
  events.add(1, 25, 0, Kind::kWrite, std::int64_t{1} << 52, kBlock);
  events.add(1, 30, 0, Kind::kTruncate, kBlock, 0);
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kFull;
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.cache.discarded, 4);
  EXPECT_EQ(outcome.devices[0].write_bytes, kBlock);
}

TEST(ReplayAtTheEdge, ATierMayHaveAnySize) {
  ReplaySettings settings = make_settings(0);
  settings.tier = {std::int64_t{1} << 43, 4096, "lru", {"server", {{"service", 0.001}}}};  // 2^31 blocks
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead, 2), settings);
  EXPECT_EQ(outcome.devices[0].hits, 10);
}

TEST(ReplayAtTheEdge, RejectsMoreBytesThanAddresses) {
  const std::vector<std::int64_t> extents(1025, std::int64_t{1} << 53);
  EXPECT_THROW(FilePlacement(extents, kBlock), Error);
  EXPECT_EQ(FilePlacement(std::span(extents).first(500), kBlock).span(), 500 * extents[0]);
}

}  // namespace
}  // namespace plait::simulation
