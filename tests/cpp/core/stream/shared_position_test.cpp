// The position of a stream in mode 1, which its ranks share: the elements of the array are distributed, each once.
#include "core/stream/shared_position.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "transport/counter.hpp"

namespace {

using plait::core::SharedPosition;
using plait::transport::MemoryCounter;

TEST(SharedPosition, NeverExceedsTheEnd) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t end : {std::int64_t{0}, std::int64_t{10}, kMax - 5, kMax}) {
    auto word = std::make_shared<std::atomic<std::int64_t>>(0);
    SharedPosition position(std::make_unique<MemoryCounter>(*word, word), end, 4);
    SharedPosition other(std::make_unique<MemoryCounter>(*word, word), end, 4);
    EXPECT_FALSE(end < kMax && position.take_all(end + 1));
    EXPECT_EQ(position.tell(), 0);
    EXPECT_EQ(position.take(kMax).elements, end);
    EXPECT_EQ(other.tell(), end);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(other.take(kMax).elements, 0);
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

}  // namespace
