// ReadChoice learns if reads past the page cache, or through it, are faster on a device.
#include "store/posix/read_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using plait::store::posix::ReadChoice;

constexpr std::int64_t kRequestBytes = std::int64_t{1} << 20;

/// A disk on which a request of 1 MiB takes `past` seconds past the page cache and `through` seconds through it, of
/// which `through_processor` seconds are processor time.
struct Disk {
  double past;
  double through;
  double min_gain = 1.25;
  double through_processor = 0;

  /// Makes requests as `choice` decides; returns how many of them went past the cache.
  int requests(ReadChoice& choice, int count) const {
    int went_past = 0;
    for (int i = 0; i < count; ++i) {
      const bool is_past = choice.should_bypass(min_gain);
      went_past += is_past ? 1 : 0;
      choice.learn(is_past, {is_past ? past : through, is_past ? 0 : through_processor}, kRequestBytes);
    }
    return went_past;
  }
};

TEST(ReadChoice, TriesBothWaysAlternately) {
  ReadChoice choice;
  const Disk disk{1, 1000};
  EXPECT_FALSE(choice.rates().bypassing);
  EXPECT_FALSE(choice.rates().through_cache);
  EXPECT_EQ(disk.requests(choice, 2), 1);
  EXPECT_EQ(disk.requests(choice, 6), 3);
  EXPECT_DOUBLE_EQ(*choice.rates().bypassing, kRequestBytes);
  EXPECT_DOUBLE_EQ(*choice.rates().through_cache, kRequestBytes / 1000.0);
}

TEST(ReadChoice, UsesTheFasterWayAndTriesTheOtherEverMoreRarely) {
  ReadChoice fast;
  Disk{1, 2}.requests(fast, 8);
  // The other way is tried after 32, 64, 128, 256, 512 and twice 1024 requests.
  EXPECT_EQ((Disk{1, 2}.requests(fast, 33)), 32);
  EXPECT_EQ((Disk{1, 2}.requests(fast, 64 + 128 + 256 + 512 + 2 * 1024 + 6)), 64 + 128 + 256 + 512 + 2 * 1024);
  ReadChoice slow;
  Disk{2, 1}.requests(slow, 8);
  EXPECT_EQ((Disk{2, 1}.requests(slow, 33)), 1);
}

TEST(ReadChoice, UsesTheCacheIfTheGainIsSmall) {
  ReadChoice choice;
  const Disk disk{1, 1.2};
  disk.requests(choice, 8);
  EXPECT_LE(disk.requests(choice, 90), 2);
  // But not for data that the cache would not retain anyway, which needs no gain.
  const Disk large{1, 1.2, 0.95};
  EXPECT_GE(large.requests(choice, 90), 88);
}

TEST(ReadChoice, CountsProcessorTime) {
  ReadChoice choice;
  const Disk disk{1, 1.2, 1.25, 0.5};
  disk.requests(choice, 8);
  EXPECT_GE(disk.requests(choice, 90), 88);
}

TEST(ReadChoice, AdaptsToADiskThatChanges) {
  ReadChoice choice;
  Disk{1, 2}.requests(choice, 100);
  Disk{5, 2}.requests(choice, 20);
  EXPECT_LE((Disk{5, 2}.requests(choice, 100)), 2);
  Disk{1, 2}.requests(choice, 10 * 1024);
  EXPECT_GE((Disk{1, 2}.requests(choice, 100)), 96);
}

TEST(ReadChoice, ExistsOnceForEachDevice) {
  EXPECT_EQ(&ReadChoice::for_device(1), &ReadChoice::for_device(1));
  EXPECT_NE(&ReadChoice::for_device(1), &ReadChoice::for_device(2));
}

}  // namespace
