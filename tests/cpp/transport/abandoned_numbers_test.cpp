// The record of the numbers of abandoned objects, for which no worker waits any more, with and without memory.
#include "transport/abandoned_numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "allocations.hpp"

namespace {

using plait::transport::AbandonedNumbers;

TEST(AbandonedNumbers, AreAllRecordedIfThereIsMemory) {
  AbandonedNumbers abandoned;
  for (std::int64_t number = 1; number <= 200; number += 2) {
    abandoned.prepare();
    abandoned.insert(number);
    abandoned.insert(number);
  }
  for (std::int64_t number = 1; number <= 200; ++number) EXPECT_EQ(abandoned.contains(number), number % 2 == 1);
}

TEST(AbandonedNumbers, TheLatestAreRecordedWithoutMemory) {
  AbandonedNumbers abandoned;
  std::int64_t number = 0;
  allocations::fail_from(1);
  for (; number < 200; ++number) abandoned.insert(number);
  EXPECT_FALSE(allocations::failed());
  EXPECT_TRUE(abandoned.contains(199));
  EXPECT_TRUE(abandoned.contains(190));
}

}  // namespace
