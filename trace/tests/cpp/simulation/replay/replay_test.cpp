// Replays of short traces, whose times are computed by hand (see short_replays.hpp), and of random ones.
#include "simulation/replay/replay.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random_bits.hpp"
#include "plait/error.hpp"
#include "short_replays.hpp"
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

TEST(Replay, WithoutACacheEachRequestTakesItsTime) {
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead), make_settings(0));
  EXPECT_EQ(outcome.elapsed, 9 * 5 * kMs + 10 * 10 * kMs);
  EXPECT_EQ(outcome.idle, 10 * 10 * kMs);
  EXPECT_EQ(outcome.computing, 45 * kMs);
  EXPECT_EQ(outcome.processes[0].waiting, 100 * kMs);
  EXPECT_EQ(outcome.read_latency.percentile(0.5), 10 * kMs);
  EXPECT_EQ(outcome.devices[0].read_bytes, 10 * kBlock);
  std::int64_t idle = 0;
  for (const std::int64_t sum : outcome.idle_time.sums()) {
    EXPECT_LE(sum, outcome.idle_time.interval());
    idle += sum;
  }
  EXPECT_EQ(idle, outcome.idle);
}

TEST(Replay, AnInfiniteCacheReadsOnce) {
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead, 3), make_settings(1000));
  EXPECT_EQ(outcome.elapsed, 29 * 5 * kMs + 10 * 10 * kMs);
  EXPECT_EQ(outcome.cache.hit_requests, 20);
  EXPECT_EQ(outcome.devices[0].reads, 10);
}

TEST(Replay, ADeviceWithoutCostLeavesComputingAndCalls) {
  ReplaySettings settings = make_settings(4);
  settings.device = {"server", {{"service", 0}}};
  settings.processors.call_cost = kMs / 10;
  settings.processors.copy_rate = 4096e3;  // 1 ms per block
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead, 2), settings);
  EXPECT_EQ(outcome.elapsed, 19 * 5 * kMs + 20 * (kMs / 10 + kMs));
  EXPECT_EQ(outcome.idle, 0);
  EXPECT_EQ(outcome.system, 22 * kMs);
}

TEST(Replay, WritesWaitForTheDeviceByWritePolicy) {
  const auto replay_writes = [](WriteKind kind) {
    ReplaySettings settings = make_settings(100);
    settings.cache.write = kind;
    settings.cache.delay = 0;
    settings.cache.flush_interval = kMs;
    return replay(spaced_requests(10, 5, Kind::kWrite), settings);
  };
  const auto through = replay_writes(WriteKind::kThrough);
  EXPECT_EQ(through.elapsed, 45 * kMs + 100 * kMs);
  EXPECT_EQ(through.drained, through.elapsed);
  const auto behind = replay_writes(WriteKind::kBehind);
  EXPECT_EQ(behind.elapsed, 45 * kMs);
  EXPECT_EQ(behind.drained, 100 * kMs);
  const auto delayed = replay_writes(WriteKind::kDelayed);
  EXPECT_EQ(delayed.elapsed, 45 * kMs);
  EXPECT_EQ(delayed.drained, 101 * kMs);  // the first block is 1 ms old at the check of ages
  const auto full = replay_writes(WriteKind::kFull);
  EXPECT_EQ(full.elapsed, 45 * kMs);
  EXPECT_EQ(full.devices[0].writes, 1);  // one write of all blocks at the end
  EXPECT_EQ(full.drained, 55 * kMs);
}

TEST(Replay, BlocksOverwrittenInTheCacheAreWrittenOnce) {
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kDelayed;
  const auto outcome = replay(spaced_requests(10, 5, Kind::kWrite, 4), settings);
  EXPECT_EQ(outcome.cache.overwritten_blocks, 30);
  EXPECT_EQ(outcome.devices[0].write_bytes, 10 * kBlock);
  EXPECT_EQ(outcome.max_dirty, 10 * kBlock);
}

TEST(Replay, EvictionsOfDirtyBlocksWaitForTheDevice) {
  ReplaySettings settings = make_settings(2);
  settings.cache.write = WriteKind::kFull;
  settings.cache.coalesce = 0;
  const auto outcome = replay(spaced_requests(10, 5, Kind::kWrite), settings);
  EXPECT_EQ(outcome.cache.evicted_dirty, 8);
  EXPECT_EQ(outcome.elapsed, 45 * kMs + 8 * 10 * kMs);
}

TEST(Replay, LimitsOnDirtyBlocksDelayWriters) {
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kFull;
  settings.cache.dirty_limit = 0.04;
  const auto outcome = replay(spaced_requests(20, 1, Kind::kWrite), settings);
  EXPECT_GT(outcome.cache.limited, 0);
  EXPECT_LE(outcome.max_dirty, 5 * kBlock);
}

TEST(Replay, ASyncWritesAFileToTheDevice) {
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kFull;
  Events events = spaced_requests(4, 5, Kind::kWrite);
  events.add(1, 30, 1, Kind::kSync, 0, 0);
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.elapsed, 15 * kMs + 11 * kMs + 10 * kMs);  // 11 ms of computing before the call
  EXPECT_EQ(outcome.drained, outcome.elapsed);
}

TEST(Replay, TruncatedBlocksAreNotWritten) {
  ReplaySettings settings = make_settings(100);
  settings.cache.write = WriteKind::kFull;
  Events events = spaced_requests(4, 5, Kind::kWrite);
  events.add(1, 30, 0, Kind::kTruncate, kBlock, 0);
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.cache.discarded, 3);
  EXPECT_EQ(outcome.devices[0].write_bytes, kBlock);
}

TEST(Replay, ReadAheadHidesTheDevice) {
  const auto replay_with = [](ReadAheadKind kind) {
    ReplaySettings settings = make_settings(100);
    settings.cache.read_ahead = kind;
    settings.cache.read_ahead_size = 4 * kBlock;
    return replay(spaced_requests(10, 20, Kind::kRead), settings);
  };
  EXPECT_EQ(replay_with(ReadAheadKind::kNone).elapsed, 9 * 20 * kMs + 100 * kMs);
  for (const ReadAheadKind kind : {ReadAheadKind::kOne, ReadAheadKind::kSame, ReadAheadKind::kMany}) {
    const auto outcome = replay_with(kind);
    EXPECT_EQ(outcome.elapsed, 9 * 20 * kMs + 10 * kMs);
    EXPECT_EQ(outcome.cache.ahead_used, 9);
    EXPECT_EQ(outcome.cache.ahead_blocks, 9);  // not beyond the end of the file
  }
  EXPECT_LT(replay_with(ReadAheadKind::kAdaptive).elapsed, 9 * 20 * kMs + 30 * kMs);
}

TEST(Replay, ReadAheadFollowsStrides) {
  Events events;
  for (int k = 0; k < 10; ++k) events.add(1, 21 * k, 1, Kind::kRead, 7 * k * kBlock, kBlock);
  ReplaySettings settings = make_settings(100);
  settings.cache.read_ahead = ReadAheadKind::kStride;
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.cache.ahead_used, 7);  // the first three determine the stride; nothing follows the last
  EXPECT_EQ(outcome.elapsed, 9 * 20 * kMs + 3 * 10 * kMs);
}

TEST(Replay, AsynchronousRequestsOverlapWithComputing) {
  Events events;
  for (int k = 0; k < 5; ++k)
    events.add(1, 20 * k, 1, Kind::kWrite, k * kBlock, kBlock).flags |= trace::flag::kAsynchronous;
  events.add(1, 81, 0, Kind::kClose, 0, 0);
  const auto outcome = replay(std::move(events), make_settings(0));
  EXPECT_EQ(outcome.elapsed, 4 * 20 * kMs + 10 * kMs);  // the close waits for the last
  EXPECT_EQ(outcome.write_latency.count(), 0);
}

TEST(Replay, TwoProcessesShareAProcessorInTurns) {
  Events events;
  for (const std::uint32_t process : {1U, 2U}) {
    events.add(process, 0, 0, Kind::kOpen, 0, 0);
  }
  for (const std::uint32_t process : {1U, 2U}) events.add(process, 100, 0, Kind::kRead, 0, kBlock);
  events.name(1, "a");
  events.name(2, "b");
  ReplaySettings settings = make_settings(0);
  settings.processors.quantum = 10 * kMs;
  settings.processors.switch_cost = kMs / 10;
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.computing, 200 * kMs);
  // The request of the first process overlaps the last quantum of the second, and ends while the second waits.
  EXPECT_EQ(outcome.switches, 21);
  EXPECT_EQ(outcome.elapsed, 200 * kMs + 20 * kMs / 10 + 10 * kMs);
  settings.processors.count = 2;
  Events again;
  for (const std::uint32_t process : {1U, 2U}) again.add(process, 0, 0, Kind::kOpen, 0, 0);
  for (const std::uint32_t process : {1U, 2U}) again.add(process, 100, 0, Kind::kRead, 0, kBlock);
  again.name(1, "a");
  again.name(2, "b");
  EXPECT_EQ(replay(std::move(again), settings).elapsed, 120 * kMs);  // one device, one after the other
}

TEST(Replay, CollectiveOperationsWaitForAll) {
  Events events;
  for (const std::uint32_t process : {1U, 2U}) events.add(process, 0, 0, Kind::kOpen, 0, 0);
  for (const std::uint32_t process : {1U, 2U}) {
    Event& event = events.add(process, process == 1 ? 10 : 70, 1, Kind::kRead, process * kBlock, kBlock);
    event.flags |= trace::flag::kCollective;
    event.operation = 5;
  }
  for (const std::uint32_t process : {1U, 2U}) events.name(process, "shared");
  events.add(1, 80, 1, Kind::kRead, 0, kBlock);
  ReplaySettings settings = make_settings(0);
  settings.processors.count = 2;
  const auto outcome = replay(std::move(events), settings);
  EXPECT_EQ(outcome.processes[0].barrier, 60 * kMs);
  EXPECT_EQ(outcome.processes[0].end, 80 * kMs + 69 * kMs + 10 * kMs);
  EXPECT_EQ(outcome.unmatched, 0);
}

TEST(Replay, MeasuredTimesReproduceTheRecordedRun) {
  ReplaySettings settings = make_settings(0);
  settings.program.measured = true;
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead), settings);
  EXPECT_EQ(outcome.elapsed, 9 * 5 * kMs + 10 * kMs);
  EXPECT_TRUE(outcome.devices.empty());
}

TEST(Replay, RecordedCpuTimeIsComputingAndTheRestAPause) {
  Events events;
  for (int k = 0; k < 5; ++k) events.add(1, 10 * k, 1, Kind::kRead, k * kBlock, kBlock).cpu = 2 * kMs * k;
  ReplaySettings settings = make_settings(0);
  auto outcome = replay(events, settings);
  EXPECT_EQ(outcome.computing, 2 * kMs * 4);
  EXPECT_EQ(outcome.processes[0].pausing, 7 * kMs * 4);
  EXPECT_EQ(outcome.elapsed, 50 * kMs + 36 * kMs);
  settings.program.keep_waits = false;
  EXPECT_EQ(replay(events, settings).elapsed, 50 * kMs + 8 * kMs);
}

TEST(Replay, SequentialRequestsAreAggregated) {
  ReplaySettings settings = make_settings(0);
  settings.program.aggregate = 4 * kBlock;
  const auto outcome = replay(spaced_requests(10, 5, Kind::kRead), settings);
  EXPECT_EQ(outcome.devices[0].reads, 3);
  EXPECT_EQ(outcome.devices[0].read_bytes, 10 * kBlock);
  EXPECT_EQ(outcome.elapsed, 9 * 5 * kMs + 3 * 10 * kMs);
}

TEST(Replay, DirectRequestsBypassTheCache) {
  Events events = spaced_requests(10, 5, Kind::kRead, 2);
  for (Event& event : events.all) event.flags |= trace::flag::kDirect;
  const auto outcome = replay(std::move(events), make_settings(100));
  EXPECT_EQ(outcome.devices[0].reads, 20);
  EXPECT_EQ(outcome.cache.read_requests, 0);
}

TEST(Replay, TheLimitOfAProcessIsRespected) {
  ReplaySettings settings = make_settings(10);
  settings.cache.process_limit = 4 * kBlock;
  const auto outcome = replay(spaced_requests(5, 1, Kind::kRead, 3), settings);
  EXPECT_EQ(outcome.cache.hit_blocks, 0);  // five blocks in turn do not fit into four
  settings.cache.process_limit = 5 * kBlock;
  EXPECT_EQ(replay(spaced_requests(5, 1, Kind::kRead, 3), settings).cache.hit_blocks, 10);
}

TEST(Replay, ARequestLargerThanTheCacheCompletes) {
  Events events;
  events.add(1, 0, 1, Kind::kRead, 0, 100 * kBlock);
  events.add(1, 2, 1, Kind::kWrite, 0, 100 * kBlock);
  for (const WriteKind kind : {WriteKind::kThrough, WriteKind::kBehind, WriteKind::kDelayed, WriteKind::kFull}) {
    ReplaySettings settings = make_settings(3);
    settings.cache.write = kind;
    settings.cache.read_ahead = ReadAheadKind::kSame;
    const auto outcome = replay(events, settings);
    EXPECT_EQ(outcome.devices[0].read_bytes, 100 * kBlock);
    EXPECT_EQ(outcome.devices[0].write_bytes, 100 * kBlock);
  }
}

/// Random requests under all policies, write modes and read-ahead modes: the replay ends, bytes add up, and a second
/// run is equal.
TEST(Replay, RandomRequestsUnderAllSettings) {
  base::RandomBits bits(5);
  Events events;
  double time = 0;
  for (int k = 0; k < 3000; ++k) {
    const auto process = static_cast<std::uint32_t>(1 + bits.next() % 3);
    const auto choice = bits.next() % 20;
    const Kind kind = choice == 0   ? Kind::kSync
                      : choice == 1 ? Kind::kTruncate
                      : choice < 9  ? Kind::kWrite
                                    : Kind::kRead;
    const auto offset = static_cast<std::int64_t>(bits.next() % (64 * kBlock));
    const auto length = kind == Kind::kRead || kind == Kind::kWrite
                            ? static_cast<std::int64_t>(bits.next() % (6 * kBlock))
                            : std::int64_t{0};
    Event& event = events.add(process, time, 0.5, kind, offset, length);
    if (bits.next() % 5 == 0) event.flags |= trace::flag::kAsynchronous;
    time += static_cast<double>(bits.next() % 4);
  }
  for (std::uint32_t process = 1; process <= 3; ++process) events.name(process, "shared");
  for (const PolicyKind* policy : policies()) {
    if (policy->foresight == Foresight::kProcesses) continue;
    for (int write = 0; write < 4; ++write)
      for (int ahead = 0; ahead < 6; ++ahead) {
        ReplaySettings settings = make_settings(16);
        settings.cache.policy = std::string(policy->name);
        settings.cache.write = static_cast<WriteKind>(write);
        settings.cache.read_ahead = static_cast<ReadAheadKind>(ahead);
        settings.cache.write_allocate = ahead != 1;
        settings.cache.dirty_limit = ahead == 2 ? 0.25 : 1;
        settings.cache.dirty_start = ahead == 3 ? 0.125 : 1;
        settings.cache.process_limit = ahead == 4 ? 5 * kBlock : 0;
        settings.cache.flush_interval = settings.cache.delay = 20 * kMs;
        settings.processors.count = 1 + write % 2;
        settings.processors.interrupt_cost = 1000;
        settings.processors.switch_cost = 1000;
        const auto outcome = replay(events, settings);
        SCOPED_TRACE(settings.cache.policy + " " + std::to_string(write) + " " + std::to_string(ahead));
        const auto& cache = outcome.cache;
        std::int64_t read_bytes = 0;
        for (const auto& process : outcome.processes) {
          read_bytes += process.read_bytes;
          EXPECT_GE(process.end - process.start, process.computing + process.waiting + process.pausing);
        }
        EXPECT_GT(read_bytes, 0);
        EXPECT_EQ(outcome.devices[0].read_bytes, (cache.read_blocks - cache.hit_blocks + cache.ahead_blocks) * kBlock);
        EXPECT_LE(cache.ahead_used + cache.ahead_wasted, cache.ahead_blocks);
        EXPECT_LE(outcome.idle, outcome.elapsed * settings.processors.count);
        const auto again = replay(events, settings);
        EXPECT_EQ(again.elapsed, outcome.elapsed);
        EXPECT_EQ(again.drained, outcome.drained);
        EXPECT_EQ(again.idle, outcome.idle);
      }
  }
}

/// Returns the events of two programs that three times compute, read a block, and call the operation `name`, in which
/// the first waits for the second. The first computes for 10 ms, the second for `second_gap` ms.
Events barrier_events(const std::string& name, int second_gap) {
  Events events;
  const auto phase = [&](std::uint32_t process, double start, double duration) {
    Event& event = events.add(process, start, duration, Kind::kPhase, -1, 0);
    event.file = 7;
    event.flags |= trace::flag::kLogical;
  };
  for (std::uint32_t process = 1; process <= 2; ++process) {
    const int gap = process == 1 ? 10 : second_gap;
    for (int k = 0; k < 3; ++k) {
      const double begin = k * (second_gap + 1.0);
      events.add(process, begin + gap, 1, Kind::kRead, k * kBlock, kBlock).flags |= trace::flag::kLogical;
      phase(process, begin + gap + 1, second_gap - gap);
    }
    events.details.files.push_back({process, 7, name});
  }
  std::ranges::sort(events.all, {}, &Event::start);
  return events;
}

TEST(Replay, BarriersOfATraceMakeAllWait) {
  ReplaySettings settings = make_settings(0);
  settings.device = {"server", {{"service", 0}}};
  settings.processors.count = 2;
  const auto outcome = replay(barrier_events("MPI: MPI_Barrier", 30), settings);
  EXPECT_EQ(outcome.processes[0].barrier, 3 * 20 * kMs);
  EXPECT_EQ(outcome.processes[1].barrier, 0);
  EXPECT_EQ(outcome.elapsed, (20 + 2 * 30) * kMs);  // since the first event
  EXPECT_EQ(outcome.unmatched, 0);
  // On one processor a process that waits lets the other compute, so that each round takes 10 + 30 ms.
  settings.processors.count = 1;
  EXPECT_EQ(replay(barrier_events("MPI_Allreduce", 30), settings).elapsed, (20 + 2 * 40) * kMs);
  // An operation in which only some processes wait takes its recorded time.
  settings.processors.count = 2;
  const auto not_barriers = replay(barrier_events("MPI_Bcast", 30), settings);
  EXPECT_EQ(not_barriers.processes[0].barrier, 0);
  EXPECT_EQ(not_barriers.processes[0].pausing, 3 * 20 * kMs);
  // So does a barrier whose other processes are not in the trace.
  Events alone = barrier_events("MPI_Barrier", 30);
  std::erase_if(alone.all, [](const Event& event) { return event.process == 2; });
  EXPECT_EQ(replay(alone, settings).elapsed, not_barriers.processes[0].end);
}

TEST(Replay, RejectsInvalidSettings) {
  const auto message = [](const std::function<void(ReplaySettings&)>& change) -> std::string {
    ReplaySettings settings = make_settings(10);
    change(settings);
    try {
      replay(spaced_requests(1, 1, Kind::kRead), settings);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(message([](auto& s) { s.cache.size = 100; }).find("smaller than one of its blocks"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.cache.policy = "lur"; }).find("lru"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.cache.policy = "toss-parallel"; }).find("has to know"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.processors.quantum = 0; }).find("above 0"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.cache.dirty_limit = 2; }).find("a share from 0 to 1"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.cache.block = 0, s.program.measured = true; }).find("512 to 2^40"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.device.count = 8, s.device.stripe = std::int64_t{1} << 61; }).find("1 TiB"),
            std::string::npos);
  EXPECT_EQ(message([](auto&) {}), "");
}

}  // namespace
}  // namespace plait::simulation
