// Refill chooses by measured times whether to drop a window from the caches before it is filled.
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

/// Records `fills` fills that take `plain_seconds`, or `drop_seconds` if the window is dropped from the caches first.
/// Returns the number of fills that drop it.
int count_drops(Refill& refill, int fills, double plain_seconds, double drop_seconds) {
  int count = 0;
  for (int i = 0; i < fills; ++i) {
    const bool drop = refill.should_drop();
    refill.learn(drop, drop ? drop_seconds : plain_seconds);
    count += drop ? 1 : 0;
  }
  return count;
}

TEST(Refill, MeasuresBothMethodsFirst) {
  Refill refill;
  EXPECT_FALSE(refill.should_drop());
  refill.learn(/*was_dropped=*/false, 1);
  EXPECT_TRUE(refill.should_drop());
}

TEST(Refill, RarelyDropsIfDroppingIsSlower) {
  Refill refill;
  const int dropped = count_drops(refill, 1000, 0.07, 0.11);
  EXPECT_GE(dropped, 1000 / 20);  // dropping is tried again from time to time
  EXPECT_LE(dropped, 1000 / 15);
}

TEST(Refill, MostlyDropsIfThatIsMuchFaster) {
  Refill refill;
  const int dropped = count_drops(refill, 1000, 0.38, 0.11);
  EXPECT_LE(dropped, 1000 - 1000 / 80);
  EXPECT_GE(dropped, 1000 - 1000 / 50);
}

TEST(Refill, DoesNotDropForASmallGain) {
  Refill refill;
  EXPECT_LE(count_drops(refill, 1000, 0.13, 0.11), 1000 / 15);
}

TEST(Refill, AdaptsIfTheTimesChange) {
  Refill refill;
  count_drops(refill, 1000, 0.07, 0.11);
  EXPECT_GE(count_drops(refill, 100, 0.38, 0.11), 90);
  count_drops(refill, 1000, 0.38, 0.11);
  EXPECT_LE(count_drops(refill, 1000, 0.07, 0.11), 150);
}

TEST(Refill, CallsTheFillFunctionAndPassesErrorsOn) {
  Refill refill;
  std::vector<std::byte> window(1 << 20);
  for (int round = 0; round < 40; ++round) {
    const auto value = static_cast<std::byte>(round + 1);
    const auto size = static_cast<std::int64_t>(window.size());
    refill.fill(window.data(), size, [&] { std::fill(window.begin(), window.end(), value); });
    EXPECT_TRUE(std::all_of(window.begin(), window.end(), [&](std::byte byte) { return byte == value; }));
  }
  EXPECT_THROW(refill.fill(window.data(), 1 << 20, [] { throw std::runtime_error("a disk"); }), std::runtime_error);
}

TEST(CacheLines, DroppingThemDoesNotChangeTheMemory) {
  std::vector<std::byte> memory(10'000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  const std::vector<std::byte> before = memory;
  for (const std::int64_t offset : {0, 1, 63, 64, 100})
    for (const std::int64_t bytes : {0, 1, 63, 64, 65, 4096, 9000})
      plait::copy::drop_cache_lines(memory.data() + offset, bytes);
  EXPECT_EQ(memory, before);
}

}  // namespace
