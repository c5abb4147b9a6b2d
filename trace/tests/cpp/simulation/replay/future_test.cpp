// The future of a replay: when each block is used next, for replacement policies that look ahead. The replay may order
// requests of different programs differently than the recording.
#include "simulation/replay/future.hpp"

#include <gtest/gtest.h>

#include "short_replays.hpp"
#include "trace_in_memory.hpp"

namespace plait::simulation {
namespace {

using plait_test::kBlock;
using trace::Kind;

TEST(Future, ReturnsTheNextUseThatHasNotHappened) {
  plait_test::TraceInMemory events;
  // Program 1 uses blocks 0 and 1, and later 1; program 2 uses block 0 in between: uses 0 to 3.
  events.add(1, 0, 1, Kind::kRead, 0, 2 * kBlock);
  events.add(2, 2, 1, Kind::kWrite, 0, kBlock);
  events.add(1, 4, 1, Kind::kRead, kBlock, kBlock);
  events.name(1, "shared");
  events.name(2, "shared");
  Recording recording;
  recording.add(events);
  ASSERT_EQ(recording.files().size(), 1U);
  Future future(recording, 0, kBlock);
  EXPECT_EQ(future.next_use({0, 0}), 0);
  EXPECT_EQ(future.next_use({1, 0}), 1);
  EXPECT_EQ(future.next_use({2, 0}), kNever);
  future.mark_next_request(1);  // program 2 is faster than in the recording
  EXPECT_EQ(future.next_use({0, 0}), 0);
  future.mark_next_request(0);
  EXPECT_EQ(future.next_use({0, 0}), kNever);
  EXPECT_EQ(future.next_use({1, 0}), 3);
  future.mark_next_request(0);
  EXPECT_EQ(future.next_use({1, 0}), kNever);
}

TEST(Future, IgnoresRequestsThatBypassTheCache) {
  Request request;
  request.kind = Kind::kRead;
  request.length = 1;
  EXPECT_TRUE(Future::uses_cache(request));
  request.direct = true;
  EXPECT_FALSE(Future::uses_cache(request));
  request.direct = false;
  request.length = 0;
  EXPECT_FALSE(Future::uses_cache(request));
  request.length = 1;
  request.kind = Kind::kSync;
  EXPECT_FALSE(Future::uses_cache(request));
}

}  // namespace
}  // namespace plait::simulation
