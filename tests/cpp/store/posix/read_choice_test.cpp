// Which way of reading from a device is the faster one.
#include "store/posix/read_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using plait::store::posix::ReadChoice;

constexpr std::int64_t kAskedBytes = std::int64_t{1} << 20;

/// Requests of 1 MiB by the way that is chosen, and how many of them went past the cache.
struct Disk {
  double past;
  double through;
  double min_gain = 1.25;
  double through_processor = 0;

  int requests(ReadChoice& choice, int count) const {
    int went_past = 0;
    for (int i = 0; i < count; ++i) {
      const bool goes = choice.goes_past(min_gain);
      went_past += goes ? 1 : 0;
      choice.learn(goes, {goes ? past : through, goes ? 0 : through_processor}, kAskedBytes);
    }
    return went_past;
  }
};

TEST(ReadChoice, TriesBothWaysInTurns) {
  ReadChoice choice;
  const Disk disk{1, 1000};
  EXPECT_FALSE(choice.rates().past);
  EXPECT_FALSE(choice.rates().through);
  EXPECT_EQ(disk.requests(choice, 2), 1);
  EXPECT_EQ(disk.requests(choice, 6), 3);
  EXPECT_DOUBLE_EQ(*choice.rates().past, kAskedBytes);
  EXPECT_DOUBLE_EQ(*choice.rates().through, kAskedBytes / 1000.0);
}

TEST(ReadChoice, TakesTheFasterOneAndTriesTheOtherLessAndLess) {
  ReadChoice fast;
  Disk{1, 2}.requests(fast, 8);
  // Behind 32, 64, 128, 256, 512 and twice 1024 requests.
  EXPECT_EQ((Disk{1, 2}.requests(fast, 33)), 32);
  EXPECT_EQ((Disk{1, 2}.requests(fast, 64 + 128 + 256 + 512 + 2 * 1024 + 6)), 64 + 128 + 256 + 512 + 2 * 1024);
  ReadChoice slow;
  Disk{2, 1}.requests(slow, 8);
  EXPECT_EQ((Disk{2, 1}.requests(slow, 33)), 1);
}

TEST(ReadChoice, StaysWithTheCacheWhereLittleIsGained) {
  ReadChoice choice;
  const Disk disk{1, 1.2};
  disk.requests(choice, 8);
  EXPECT_LE(disk.requests(choice, 90), 2);
  // Not where the cache would keep nothing anyway.
  const Disk large{1, 1.2, 0.95};
  EXPECT_GE(large.requests(choice, 90), 88);
}

TEST(ReadChoice, CountsProcessorTime) {
  ReadChoice choice;
  const Disk disk{1, 1.2, 1.25, 0.5};
  disk.requests(choice, 8);
  EXPECT_GE(disk.requests(choice, 90), 88);
}

TEST(ReadChoice, FollowsADiskThatChanges) {
  ReadChoice choice;
  Disk{1, 2}.requests(choice, 100);
  Disk{5, 2}.requests(choice, 20);
  EXPECT_LE((Disk{5, 2}.requests(choice, 100)), 2);
  Disk{1, 2}.requests(choice, 10 * 1024);
  EXPECT_GE((Disk{1, 2}.requests(choice, 100)), 96);
}

TEST(ReadChoice, IsOneForEachDevice) {
  EXPECT_EQ(&ReadChoice::for_device(1), &ReadChoice::for_device(1));
  EXPECT_NE(&ReadChoice::for_device(1), &ReadChoice::for_device(2));
}

}  // namespace
