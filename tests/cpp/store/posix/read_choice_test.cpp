// ReadChoice learns if reads past the page cache, or through it, are faster on a device.
#include "store/posix/read_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using plait::store::posix::ReadChoice;

constexpr std::int64_t kRequestBytes = std::int64_t{1} << 20;

/// A disk on which a request of 1 MiB takes `bypass_seconds` past the page cache and `cache_seconds` through it, and
/// `cache_processor_seconds` of processor time through it.
struct Disk {
  double bypass_seconds;
  double cache_seconds;
  double min_gain = 1.25;  // bypassing is preferred if the cache is slower by more than this factor
  double cache_processor_seconds = 0;

  /// Makes requests as `choice` decides; returns how many of them went past the cache.
  int make_requests(ReadChoice& choice, int count) const {
    int bypassing_requests = 0;
    for (int i = 0; i < count; ++i) {
      const bool is_bypassing = choice.should_bypass(min_gain);
      bypassing_requests += is_bypassing ? 1 : 0;
      choice.learn(is_bypassing,
                   {is_bypassing ? bypass_seconds : cache_seconds, is_bypassing ? 0 : cache_processor_seconds},
                   kRequestBytes);
    }
    return bypassing_requests;
  }
};

TEST(ReadChoice, TriesBothWaysAlternately) {
  ReadChoice choice;
  const Disk disk{1, 1000};
  EXPECT_FALSE(choice.rates().bypassing);
  EXPECT_FALSE(choice.rates().through_cache);
  EXPECT_EQ(disk.make_requests(choice, 2), 1);
  EXPECT_EQ(disk.make_requests(choice, 6), 3);
  EXPECT_DOUBLE_EQ(*choice.rates().bypassing, kRequestBytes);
  EXPECT_DOUBLE_EQ(*choice.rates().through_cache, kRequestBytes / 1000.0);
}

TEST(ReadChoice, UsesTheFasterWayAndTriesTheOtherEverMoreRarely) {
  ReadChoice fast;
  Disk{1, 2}.make_requests(fast, 8);  // the first trials of both ways
  // The other way is tried after 32, 64, 128, 256, 512 and twice 1024 requests.
  EXPECT_EQ((Disk{1, 2}.make_requests(fast, 33)), 32);
  EXPECT_EQ((Disk{1, 2}.make_requests(fast, 64 + 128 + 256 + 512 + 2 * 1024 + 6)), 64 + 128 + 256 + 512 + 2 * 1024);
  ReadChoice slow;
  Disk{2, 1}.make_requests(slow, 8);
  EXPECT_EQ((Disk{2, 1}.make_requests(slow, 33)), 1);
}

TEST(ReadChoice, UsesTheCacheIfTheGainIsSmall) {
  ReadChoice choice;
  const Disk disk{1, 1.2};  // 1.2 is less than min_gain
  disk.make_requests(choice, 8);
  EXPECT_LE(disk.make_requests(choice, 90), 2);
  // Data that the cache would not retain anyway is read past it even without a gain.
  const Disk large{1, 1.2, 0.95};
  EXPECT_GE(large.make_requests(choice, 90), 88);
}

TEST(ReadChoice, CountsProcessorTime) {
  ReadChoice choice;
  const Disk disk{1, 1.2, 1.25, 0.5};  // the cost through the cache is 1.2 + 0.5, which is above min_gain
  disk.make_requests(choice, 8);
  EXPECT_GE(disk.make_requests(choice, 90), 88);
}

TEST(ReadChoice, AdaptsToADiskThatChanges) {
  ReadChoice choice;
  Disk{1, 2}.make_requests(choice, 100);
  Disk{5, 2}.make_requests(choice, 20);
  EXPECT_LE((Disk{5, 2}.make_requests(choice, 100)), 2);
  Disk{1, 2}.make_requests(choice, 10 * 1024);
  EXPECT_GE((Disk{1, 2}.make_requests(choice, 100)), 96);
}

TEST(ReadChoice, ExistsOnceForEachDevice) {
  EXPECT_EQ(&ReadChoice::for_device(1), &ReadChoice::for_device(1));
  EXPECT_NE(&ReadChoice::for_device(1), &ReadChoice::for_device(2));
}

}  // namespace
