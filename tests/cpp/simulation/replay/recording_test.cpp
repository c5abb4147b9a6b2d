#include "simulation/replay/recording.hpp"

#include <gtest/gtest.h>

#include "trace_in_memory.hpp"

namespace plait::simulation {
namespace {

using trace::Event;
using trace::Kind;
using Events = plait_test::TraceInMemory;
using plait_test::kBlock;
using plait_test::kMs;

TEST(Recording, CountsWhatIsOdd) {
  Events events;
  events.add(1, 0, 10, Kind::kRead, 0, kBlock);
  events.add(1, 5, 1, Kind::kRead, 0, 0);  // overlaps, and is empty
  events.add(1, 20, 1, Kind::kRead, 0, kBlock).result = -5;
  events.add(1, 30, 1, Kind::kRead, -1, kBlock).cpu = 100;  // a stream
  events.add(1, 40, 1, Kind::kRead, -1, kBlock).cpu = 50;
  events.about.complete = false;
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

}  // namespace
}  // namespace plait::simulation
