// Gates between threads: counters that reach a target, or whose raiser is dead.
#include "transport/gates.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::transport::Gates;

/// Counts how often a waiting worker looked, and gives up after some looks.
class Watch : public plait::transport::Liveness {
 public:
  explicit Watch(int patience) : patience_(patience) {}
  void check() override {
    if (++looks_ > patience_) throw Error(ErrorKind::kSystem, "worker 3 has ended", EOWNERDEAD);
  }
  int looks() const { return looks_; }

 private:
  int patience_;
  int looks_ = 0;
};

TEST(Gates, WaitsUntilACounterHasReachedItsTarget) {
  std::atomic<std::uint32_t> counter{0};
  std::atomic<int> seen{0};
  std::thread waiter([&] {
    Watch patient(1000);
    for (std::uint32_t target = 1; target <= 100; ++target) {
      plait::transport::wait_for(counter, target, patient);
      ++seen;
    }
  });
  for (int i = 0; i < 100; ++i) Gates::raise(counter);
  waiter.join();
  EXPECT_EQ(seen, 100);
}

TEST(Gates, CountsModulo32Bits) {
  Watch never(0);
  std::atomic<std::uint32_t> counter{2};
  plait::transport::wait_for(counter, 0xFFFFFFFFU, never);  // passed three counts ago
  plait::transport::wait_for(counter, 2, never);
  EXPECT_EQ(never.looks(), 0);
  counter = 0xFFFFFFFEU;
  std::thread raiser([&] { Gates::raise(counter, 4); });
  Watch patient(1000);
  plait::transport::wait_for(counter, 2, patient);
  raiser.join();
  EXPECT_EQ(counter, 2U);
}

TEST(Gates, ADeadPeerEndsTheWait) {
  std::atomic<std::uint32_t> counter{0};
  Watch watch(1);
  try {
    plait::transport::wait_for(counter, 1, watch);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), EOWNERDEAD);
    EXPECT_STREQ(error.what(), "worker 3 has ended");
  }
  EXPECT_EQ(watch.looks(), 2);
}

}  // namespace
