// Wake-ups over the system's sockets, between two ends of one process.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "transport/connections/wake_ups.hpp"

namespace plait::transport::connections {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Two ends that know each other; `apart`: as if they shared no local sockets.
class Pair {
 public:
  explicit Pair(bool apart) {
    std::barrier both(2);
    std::vector<Directory::Address> all(2);
    const auto make = [&](std::size_t rank) {
      ends[rank] = std::make_unique<WakeUps>(static_cast<int>(rank), [&](const Directory::Address& mine) {
        all[rank] = mine;
        if (apart) all[rank].space = rank;
        both.arrive_and_wait();
        return all;
      });
      ends[rank]->tell([this, rank](int, bool took_leave) { (took_leave ? left : lost)[rank] += 1; },
                       [this, rank](int) { reached[rank] += 1; });
    };
    std::thread second(make, 1);
    make(0);
    second.join();
  }

  /// Both handle what comes until it is so, or for ten seconds.
  template <typename Condition>
  bool until(Condition&& condition) {
    const auto limit = Clock::now() + seconds(10);
    while (!condition() && Clock::now() < limit)
      for (std::size_t rank = 0; rank < 2; ++rank) came[rank] += ends[rank]->wait(milliseconds(1)).all;
    return condition();
  }

  std::array<std::unique_ptr<WakeUps>, 2> ends;
  std::array<int, 2> came{};
  std::array<int, 2> left{};
  std::array<int, 2> lost{};
  std::array<int, 2> reached{};
};

void talk(Pair& pair) {
  pair.ends[0]->wake(1, false);
  EXPECT_TRUE(pair.until([&] { return pair.came[1] == 1; }));
  pair.ends[1]->wake(0, true);  // by the same connection
  EXPECT_TRUE(pair.until([&] { return pair.came[0] == 1; }));
  EXPECT_TRUE(pair.ends[0]->there(1));
  pair.ends[1]->close();
  EXPECT_TRUE(pair.until([&] { return pair.left[0] > 0; }));  // once for each connection
  EXPECT_EQ(pair.lost[0], 0);
  EXPECT_EQ(pair.ends[0]->connect(1), Reach::kGone);
  EXPECT_EQ(pair.ends[1]->connect(0), Reach::kGone);
}

TEST(WakeUps, OnOneHost) {
  Pair pair(false);
  EXPECT_TRUE(pair.ends[0]->sure());
  EXPECT_EQ(pair.ends[0]->connect(1), Reach::kReady);
  talk(pair);
}

TEST(WakeUps, OverANetwork) {
  if (host::own_addresses().empty()) GTEST_SKIP() << "this host has no address but those of the loopback interface";
  Pair pair(true);
  EXPECT_FALSE(pair.ends[0]->sure());
  pair.ends[0]->connect(1);  // which the probe may have led to already, or not
  EXPECT_TRUE(pair.until([&] { return pair.ends[0]->connect(1) == Reach::kReady; }));
  talk(pair);
}

TEST(WakeUps, OneThatSleepsIsWoken) {
  Pair pair(false);
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    for (int i = 0; i < 3; ++i) pair.ends[0]->wake_self();
  });
  const auto begin = Clock::now();
  while (pair.ends[0]->wait(seconds(10)).all > 0) {
  }
  EXPECT_LT(Clock::now() - begin, seconds(5));
  other.join();
}

TEST(WakeUps, WhoWentBeforeACallIsGone) {
  Pair pair(false);
  pair.ends[1].reset();
  EXPECT_EQ(pair.ends[0]->connect(1), Reach::kGone);
  EXPECT_TRUE(pair.ends[0]->there(1));  // asked of other hosts only
}

}  // namespace
}  // namespace plait::transport::connections
