// Numbers of what was given up, with memory and without.
#include "transport/abandoned_numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "allocations.hpp"

namespace {

using plait::transport::AbandonedNumbers;

TEST(GivenUpNumbers, AreAllKeptWhereThereIsMemory) {
  AbandonedNumbers given_up;
  for (std::int64_t number = 1; number <= 200; number += 2) {
    given_up.prepare();
    given_up.insert(number);
    given_up.insert(number);
  }
  for (std::int64_t number = 1; number <= 200; ++number) EXPECT_EQ(given_up.contains(number), number % 2 == 1);
}

TEST(GivenUpNumbers, WithoutMemoryTheLastOnesAreKept) {
  AbandonedNumbers given_up;
  std::int64_t number = 0;
  allocations::fail_from(1);
  for (; number < 200; ++number) given_up.insert(number);
  EXPECT_FALSE(allocations::failed());
  EXPECT_TRUE(given_up.contains(199));
  EXPECT_TRUE(given_up.contains(190));
}

}  // namespace
