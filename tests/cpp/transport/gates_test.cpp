// Waits for a counter to reach a target, and waits that end because the worker that would raise the counter is dead.
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

/// Counts the checks that a waiting worker makes; fails as for a dead worker after more than `max_checks` checks.
class CountingLiveness : public plait::transport::Liveness {
 public:
  explicit CountingLiveness(int max_checks) : max_checks_(max_checks) {}
  void check() override {
    if (++checks_ > max_checks_) throw Error(ErrorKind::kSystem, "worker 3 has ended", EOWNERDEAD);
  }
  int checks() const { return checks_; }

 private:
  int max_checks_;
  int checks_ = 0;
};

TEST(Gates, WaitsUntilACounterHasReachedItsTarget) {
  std::atomic<std::uint32_t> counter{0};
  std::atomic<int> targets_reached{0};
  std::thread waiter([&] {
    CountingLiveness liveness(1000);
    for (std::uint32_t target = 1; target <= 100; ++target) {
      plait::transport::wait_for(counter, target, liveness);
      ++targets_reached;
    }
  });
  for (int i = 0; i < 100; ++i) Gates::raise(counter);
  waiter.join();
  EXPECT_EQ(targets_reached, 100);
}

TEST(Gates, CountsModulo32Bits) {
  CountingLiveness unchecked(0);
  std::atomic<std::uint32_t> counter{2};
  plait::transport::wait_for(counter, 0xFFFFFFFFU, unchecked);  // the counter has passed this target three counts ago
  plait::transport::wait_for(counter, 2, unchecked);
  EXPECT_EQ(unchecked.checks(), 0);
  counter = 0xFFFFFFFEU;
  std::thread raiser([&] { Gates::raise(counter, 4); });
  CountingLiveness liveness(1000);
  plait::transport::wait_for(counter, 2, liveness);
  raiser.join();
  EXPECT_EQ(counter, 2U);
}

TEST(Gates, ADeadPeerEndsTheWait) {
  std::atomic<std::uint32_t> counter{0};
  CountingLiveness liveness(1);
  try {
    plait::transport::wait_for(counter, 1, liveness);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), EOWNERDEAD);
    EXPECT_STREQ(error.what(), "worker 3 has ended");
  }
  EXPECT_EQ(liveness.checks(), 2);
}

}  // namespace
