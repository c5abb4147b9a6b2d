// The recording of traces for replays: requests and the computing time between them, per program.
#include "simulation/replay/recording.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "simulation/replay/request_cursor.hpp"
#include "trace_in_memory.hpp"

namespace plait::simulation {
namespace {

using trace::Event;
using trace::Kind;
using Events = plait_test::TraceInMemory;
using plait_test::kBlock;
using plait_test::kMs;

TEST(Recording, CountsUnusualEvents) {
  Events events;
  events.add(1, 0, 10, Kind::kRead, 0, kBlock);
  events.add(1, 5, 1, Kind::kRead, 0, 0);  // overlaps, and is empty
  events.add(1, 20, 1, Kind::kRead, 0, kBlock).result = -5;
  events.add(1, 30, 1, Kind::kRead, -1, kBlock).cpu = 100;  // a stream
  events.add(1, 40, 1, Kind::kRead, -1, kBlock).cpu = 50;
  events.details.complete = false;
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.oddities().overlapping, 1);
  EXPECT_EQ(recording.oddities().empty, 1);
  EXPECT_EQ(recording.oddities().failed, 1);
  EXPECT_EQ(recording.oddities().backwards, 1);
  EXPECT_EQ(recording.oddities().incomplete, 1);
  EXPECT_EQ(recording.requests(), 4);
  EXPECT_EQ(recording.files()[0].extent, 2 * kBlock);
  EXPECT_EQ(recording.elapsed(), 41 * kMs);
}

TEST(Recording, KeepsLongTracesOutOfMemory) {
  Events events;
  constexpr int kRequests = 1'500'000;
  events.all.reserve(kRequests);
  for (int k = 0; k < kRequests; ++k) events.add(1, k, 0, Kind::kRead, std::int64_t{k} * 8, 8);
  Recording recording;
  recording.add(events);
  EXPECT_GT(recording.spool().bytes(), std::int64_t{64} << 20);
  RequestCursor cursor(recording, 0, 0);
  for (int k = 0; k < kRequests; ++k) ASSERT_EQ(cursor.next().offset, std::int64_t{k} * 8);
  EXPECT_EQ(cursor.next().kind, Kind::kExit);
}

TEST(Recording, IgnoresImpossibleRequests) {
  Events events;
  events.add(1, 0, 10, Kind::kRead, 0, kBlock);
  events.add(1, 20, 1, Kind::kRead, std::int64_t{9} * 1'000'000'000'000'000'000, kBlock);
  events.add(1, 30, 1, Kind::kRead, std::numeric_limits<std::int64_t>::max() - 1, kBlock);
  events.add(1, 40, 1, Kind::kRead, 0, std::int64_t{4} * 1'000'000'000'000'000'000);
  events.add(1, 50, 1, Kind::kTruncate, std::numeric_limits<std::int64_t>::max(), 0);
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.oddities().beyond, 3);
  EXPECT_EQ(recording.requests(), 1);
  EXPECT_EQ(recording.files()[0].extent, kBlock);
  RequestCursor cursor(recording, 0, 0);
  EXPECT_EQ(cursor.next().length, kBlock);
  const Request truncation = cursor.next();
  EXPECT_EQ(truncation.kind, Kind::kTruncate);
  EXPECT_EQ(truncation.think + truncation.pause, 40 * kMs);
}

TEST(Recording, IgnoresTimesThatCannotBeAdded) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Events events;
  events.add(1, 0, 10, Kind::kRead, 0, kBlock);
  events.add(1, 0, 1, Kind::kRead, 0, kBlock).start = kMax - 5;
  events.add(1, 0, 1, Kind::kRead, 0, kBlock).start = -kMax;
  events.add(1, 20, 1, Kind::kRead, 0, kBlock).duration = kMax;
  for (int k = 0; k < 8; ++k) {  // alternating: gaps whose sum exceeds the range of times
    events.add(2, 0, 1, Kind::kRead, 0, kBlock).start = k % 2 == 0 ? 0 : std::int64_t{1} << 60;
  }
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.oddities().far, 3 + 3);
  EXPECT_EQ(recording.requests(), 9);
  Time computing = 0;
  for (std::size_t k = 0; k < recording.programs().size(); ++k) {
    RequestCursor cursor(recording, k, 0);
    for (Request request = cursor.next(); request.kind != Kind::kExit; request = cursor.next())
      computing += request.think;
  }
  EXPECT_LE(computing, std::int64_t{1} << 61);
  EXPECT_GT(computing, std::int64_t{1} << 59);
}

TEST(Recording, OccasionalCpuTimesAreDistributedOverTheGaps) {
  Events events;
  // 10 ms between requests; CPU times are recorded before the first, the fifth and the last request, and are a fifth of
  // the time.
  for (int k = 0; k < 9; ++k)
    events.add(1, 11 * k, 1, Kind::kRead, k * kBlock, kBlock).cpu = k < 4 ? kMs : k < 8 ? 9 * kMs : 17 * kMs;
  Recording recording;
  recording.add(events);
  RequestCursor cursor(recording, 0, 0);
  Time computing = 0;
  Time pausing = 0;
  for (Request request = cursor.next(); request.kind != Kind::kExit; request = cursor.next()) {
    computing += request.think;
    pausing += request.pause;
  }
  EXPECT_EQ(computing, 16 * kMs);
  EXPECT_EQ(pausing, 80 * kMs - 16 * kMs);
}

TEST(Recording, AWaitingProcessEndsAtOnceAndPipesAreOnNoDevice) {
  Events events;
  events.add(1, 0, 0, Kind::kOpen, 0, 0).cpu = 0;  // a launcher, which computes for 1 ms in 1 s
  events.add(1, 1000, 900, Kind::kRead, -1, 5).cpu = kMs;
  events.add(2, 10, 1, Kind::kRead, 0, kBlock).file = 2;
  events.name(1, "pipe:[77]");
  events.details.files.push_back({2, 2, "data"});
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.requests(), 1);
  RequestCursor launcher(recording, 0, 0);
  const Request request = launcher.next();
  EXPECT_EQ(request.kind, Kind::kExit);
  EXPECT_EQ(request.think + request.pause, 0);
  RequestCursor program(recording, 1, 0);
  EXPECT_EQ(program.next().kind, Kind::kRead);
}

TEST(Recording, ASyncOfALibraryBelongsToTheFileThatTheProgramWrote) {
  Events events;
  events.add(1, 0, 1, Kind::kWrite, 0, kBlock).file = 1;
  Event& sync = events.add(1, 5, 1, Kind::kSync, 0, 0);
  sync.file = 2;  // a file that replaces the other
  sync.flags = 0;
  Recording recording;
  recording.add(events);
  RequestCursor cursor(recording, 0, 0);
  const std::uint32_t written = cursor.next().file;
  const Request sync_request = cursor.next();
  EXPECT_EQ(sync_request.kind, Kind::kSync);
  EXPECT_EQ(sync_request.file, written);
}

TEST(Recording, TimesMayBeBelowZero) {
  Events events;
  events.add(1, -100, 10, Kind::kRead, 0, kBlock);
  events.add(1, -70, 10, Kind::kRead, 0, kBlock);
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.elapsed(), 40 * kMs);
  RequestCursor cursor(recording, 0, 0);
  EXPECT_EQ(cursor.next().think, 0);
  EXPECT_EQ(cursor.next().think, 20 * kMs);
}

TEST(Recording, OpensWithoutANameAreSeparateFiles) {
  Events events;
  for (const std::uint32_t process : {1U, 2U}) {
    events.add(process, 0, 1, Kind::kRead, 0, kBlock);
    events.name(process, "");
  }
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.files().size(), 2U);
}

/// Returns a trace of requests to devices only, with other calls between them.
Events physical_events() {
  Events events;
  events.add(1, 0, 1, Kind::kRead, 0, kBlock).flags = 0;
  events.add(1, 11, 0, Kind::kClose, 0, 0);
  events.add(1, 21, 1, Kind::kRead, kBlock, kBlock).flags = 0;
  events.add(1, 25, 0, Kind::kClose, 0, 0);
  return events;
}

TEST(Recording, IsLogicalIfAllTracesAreLogical) {
  Events logical;
  logical.add(1, 0, 1, Kind::kRead, 0, kBlock).flags = trace::flag::kLogical;
  Events physical = physical_events();
  Recording recording;
  recording.add(logical);
  EXPECT_TRUE(recording.logical());
  recording.add(physical);
  EXPECT_FALSE(recording.logical());
  EXPECT_EQ(recording.requests(), 3);
  EXPECT_EQ(recording.bytes(), 3 * kBlock);
  std::vector<Kind> kinds;
  RequestCursor cursor(recording, 1, 0);
  do kinds.push_back(cursor.next().kind);
  while (kinds.back() != Kind::kExit);
  EXPECT_EQ(kinds, (std::vector{Kind::kRead, Kind::kClose, Kind::kRead, Kind::kClose, Kind::kExit}));
}

TEST(Recording, ComputingBetweenRequestsOfDevicesCountsOnce) {
  Events events = physical_events();
  Recording recording;
  recording.add(events);
  Time computing = 0;
  RequestCursor cursor(recording, 0, 0);
  for (Request request = cursor.next();; request = cursor.next()) {
    computing += request.think;
    if (request.kind == Kind::kExit) break;
  }
  EXPECT_EQ(computing, 23 * kMs);  // 25 ms less two requests of 1 ms
}

/// Collective reads by two ranks; the operation numbers of the first rank advance by 2, as if it also read
/// independently.
TEST(Recording, CollectiveOperationsAreMatchedByTheirOrderOnAFile) {
  Events events;
  const auto collective = [&](std::uint32_t process, double start, std::uint64_t operation) {
    Event& event = events.add(process, start, 1, Kind::kRead, 0, kBlock);
    event.flags = trace::flag::kLogical | trace::flag::kCollective;
    event.operation = operation;
  };
  for (std::uint32_t process = 1; process <= 4; ++process) {
    events.name(process, "shared");
    events.details.processes.push_back({process, 0, (process - 1) % 2, "", ""});  // two jobs of two ranks
  }
  for (const std::uint32_t job : {0U, 2U})
    for (std::uint64_t call = 0; call < 3; ++call) {
      const double start = 100.0 * job + 10 * static_cast<double>(call);
      collective(job + 1, start, 2 * call + 1);
      collective(job + 2, start, call + 1);
    }
  Recording recording;
  recording.add(events);
  EXPECT_EQ(recording.groups(), (std::vector<std::uint32_t>{0, 2, 2, 2, 2, 2, 2}));
  for (const std::size_t job : {0U, 2U}) {
    RequestCursor first(recording, job, 0);
    RequestCursor second(recording, job + 1, 0);
    for (int call = 0; call < 3; ++call) EXPECT_EQ(first.next().group, second.next().group);
  }
}

}  // namespace
}  // namespace plait::simulation
