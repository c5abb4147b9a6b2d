// Replays of writes that must reach the device: durable writes, and calls of fsync.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "short_replays.hpp"
#include "simulation/replay/replay.hpp"
#include "trace_in_memory.hpp"

namespace plait::simulation {
namespace {

using trace::Event;
using trace::Kind;
using Events = plait_test::TraceInMemory;
using plait_test::kMs;
using plait_test::make_settings;
using plait_test::replay;
using plait_test::spaced_requests;

TEST(Replay, DurableWritesWaitForTheDeviceAndItsFlush) {
  const auto replay_writes = [](std::uint16_t flags, WriteKind write, std::int64_t blocks) {
    Events events = spaced_requests(10, 5, Kind::kWrite);
    for (Event& event : events.all) event.flags |= flags;
    ReplaySettings settings = make_settings(blocks);
    settings.cache.write = write;
    settings.device.flush = 2 * kMs;
    return replay(std::move(events), settings);
  };
  EXPECT_EQ(replay_writes(0, WriteKind::kFull, 100).elapsed, 45 * kMs);
  for (const WriteKind write : {WriteKind::kThrough, WriteKind::kBehind, WriteKind::kDelayed, WriteKind::kFull}) {
    const auto outcome = replay_writes(trace::flag::kDurable, write, 100);
    EXPECT_EQ(outcome.elapsed, 45 * kMs + 10 * (10 + 2) * kMs);
    EXPECT_EQ(outcome.devices[0].writes, 10);
    EXPECT_EQ(outcome.devices[0].flushes, 10);
  }
  EXPECT_EQ(replay_writes(trace::flag::kDurable, WriteKind::kFull, 0).elapsed, 45 * kMs + 120 * kMs);
  EXPECT_EQ(replay_writes(trace::flag::kDurable | trace::flag::kDirect, WriteKind::kFull, 100).elapsed,
            45 * kMs + 120 * kMs);
}

TEST(Replay, ASyncWritesDirtyBlocksAndFlushes) {
  Events events = spaced_requests(10, 5, Kind::kWrite);
  events.add(1, 60, 1, Kind::kSync, 0, 0);
  events.add(1, 62, 1, Kind::kSync, 0, 0);
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kFull;
  settings.device.flush = 2 * kMs;
  settings.device.flush_writes = 1;
  const auto outcome = replay(std::move(events), settings);
  // The first sync takes one write of all blocks (10 ms), one write by the file system (10 ms), and the flush (2 ms).
  // No block is dirty at the second sync, which takes only the last two.
  EXPECT_EQ(outcome.elapsed, 45 * kMs + 5 * kMs + 1 * kMs + (10 + 10 + 2) * kMs + (10 + 2) * kMs);
  EXPECT_EQ(outcome.devices[0].flushes, 2);
  settings.tier = {1 << 20, 65536, "lru", {"server", {{"service", 0.001}}}};  // blocks in the tier are durable
  EXPECT_EQ(replay(spaced_requests(10, 5, Kind::kWrite), settings).devices[0].flushes, 0);
}

}  // namespace
}  // namespace plait::simulation
