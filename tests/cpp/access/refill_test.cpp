// Which way windows are filled, as measured.
#include "access/refill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "copy/cache_lines.hpp"

namespace {

using plait::access::Refill;

/// How many of so many fills drop the window first, where the two ways take so long.
int drops(Refill& refill, int fills, double plain, double dropped) {
  int count = 0;
  for (int i = 0; i < fills; ++i) {
    const bool drop = refill.drops();
    refill.learn(drop, drop ? dropped : plain);
    count += drop ? 1 : 0;
  }
  return count;
}

TEST(Refill, MeasuresBothWaysFirst) {
  Refill refill;
  EXPECT_FALSE(refill.drops());
  refill.learn(false, 1);
  EXPECT_TRUE(refill.drops());
}

TEST(Refill, RarelyDropsWhereThatCostsMore) {
  Refill refill;
  const int dropped = drops(refill, 1000, 0.07, 0.11);
  EXPECT_GE(dropped, 1000 / 20);  // it is tried again and again
  EXPECT_LE(dropped, 1000 / 15);
}

TEST(Refill, MostlyDropsWhereTheOtherWayCostsFiveTimesAsMuch) {
  Refill refill;
  const int dropped = drops(refill, 1000, 0.38, 0.11);
  EXPECT_LE(dropped, 1000 - 1000 / 80);
  EXPECT_GE(dropped, 1000 - 1000 / 50);
}

TEST(Refill, KeepsTheCachesForASmallGain) {
  Refill refill;
  EXPECT_LE(drops(refill, 1000, 0.13, 0.11), 1000 / 15);
}

TEST(Refill, FollowsAMachineThatChanges) {
  Refill refill;
  drops(refill, 1000, 0.07, 0.11);
  EXPECT_GE(drops(refill, 100, 0.38, 0.11), 90);
  drops(refill, 1000, 0.38, 0.11);
  EXPECT_LE(drops(refill, 1000, 0.07, 0.11), 150);
}

TEST(Refill, FillsWhatItIsAskedToAndPassesErrorsOn) {
  Refill refill;
  std::vector<std::byte> window(1 << 20);
  for (int round = 0; round < 40; ++round) {
    const auto value = static_cast<std::byte>(round + 1);
    const auto size = static_cast<std::int64_t>(window.size());
    refill.fill(window.data(), size, [&] { std::fill(window.begin(), window.end(), value); });
    EXPECT_TRUE(std::all_of(window.begin(), window.end(), [&](std::byte one) { return one == value; }));
  }
  EXPECT_THROW(refill.fill(window.data(), 1 << 20, [] { throw std::runtime_error("a disk"); }), std::runtime_error);
}

TEST(CacheLines, KeepWhatTheMemoryHolds) {
  std::vector<std::byte> memory(10'000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  const std::vector<std::byte> before = memory;
  for (const std::int64_t offset : {0, 1, 63, 64, 100})
    for (const std::int64_t bytes : {0, 1, 63, 64, 65, 4096, 9000})
      plait::copy::drop_cache_lines(memory.data() + offset, bytes);
  EXPECT_EQ(memory, before);
}

}  // namespace
