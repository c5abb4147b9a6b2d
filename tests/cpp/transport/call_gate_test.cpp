// A call gate lets calls pass, makes them wait, runs them one at a time, or fails them.
#include "transport/call_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using plait::transport::CallGate;

/// Threads that make calls until the gate is closed, and count how many threads are in a call.
class Callers {
 public:
  Callers(CallGate& gate, int count) : gate_(gate) {
    for (int n = 0; n < count; ++n) threads_.emplace_back([this] { make_calls(); });
  }
  ~Callers() {
    gate_.close();
    for (std::thread& thread : threads_) thread.join();
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  int inside() const { return inside_; }
  int max_inside() const { return max_inside_; }
  long calls() const { return calls_; }
  void reset_max_inside() { max_inside_ = 0; }
  /// Waits until `more` calls have ended.
  void wait_for_calls(long more) const {
    const long target = calls_ + more;
    while (calls_ < target) std::this_thread::sleep_for(100us);
  }

 private:
  void make_calls() {
    while (gate_.enter()) {
      const int inside = ++inside_;
      for (int max = max_inside_; max < inside && !max_inside_.compare_exchange_weak(max, inside);) continue;
      std::this_thread::yield();
      --inside_;
      ++calls_;
      gate_.leave();
    }
  }

  CallGate& gate_;
  std::atomic<int> inside_{0};
  std::atomic<int> max_inside_{0};
  std::atomic<long> calls_{0};
  std::vector<std::thread> threads_;
};

TEST(CallGate, PauseWaitsForCallsAndBlocksNewOnes) {
  CallGate gate;
  Callers callers(gate, 4);
  for (int round = 0; round < 100; ++round) {
    callers.wait_for_calls(10);
    EXPECT_TRUE(gate.pause());
    const long calls = callers.calls();
    EXPECT_EQ(callers.inside(), 0);
    if (round % 10 == 0) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(callers.calls(), calls);
    gate.resume();
  }
}

TEST(CallGate, SerializeAdmitsOneThreadAtATime) {
  CallGate gate;
  Callers callers(gate, 4);
  callers.wait_for_calls(100);
  EXPECT_TRUE(gate.pause());
  callers.reset_max_inside();
  gate.serialize();
  callers.wait_for_calls(1000);
  EXPECT_EQ(callers.max_inside(), 1);
  EXPECT_TRUE(gate.close());
  EXPECT_EQ(callers.inside(), 0);
}

TEST(CallGate, CloseFailsCallsThatWait) {
  CallGate gate;
  EXPECT_TRUE(gate.pause());
  std::atomic<bool> entered{true};
  std::thread caller([&] { entered = gate.enter(); });
  EXPECT_TRUE(gate.close());
  caller.join();
  EXPECT_FALSE(entered);
  EXPECT_FALSE(gate.enter());
  // A closed gate stays closed.
  gate.resume();
  gate.serialize();
  EXPECT_TRUE(gate.pause());
  EXPECT_FALSE(gate.enter());
}

TEST(CallGate, ANestedCallPassesAPausedGate) {
  CallGate gate;
  ASSERT_TRUE(gate.enter());
  std::thread pauser([&] { EXPECT_TRUE(gate.pause()); });
  std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(gate.enter());
  EXPECT_TRUE(CallGate::is_inside());
  gate.leave();
  EXPECT_TRUE(CallGate::is_inside());
  gate.leave();
  EXPECT_FALSE(CallGate::is_inside());
  pauser.join();
  gate.resume();
  EXPECT_TRUE(gate.enter());
  gate.leave();
}

TEST(CallGate, CloseDoesNotWaitForTheCallThatItInterrupts) {
  CallGate gate;
  ASSERT_TRUE(gate.enter());
  EXPECT_TRUE(gate.close());  // as in a signal handler
  gate.leave();
  EXPECT_FALSE(gate.enter());
}

TEST(CallGate, WaitsForACallThatNeverReturnsOnlyForALimitedTime) {
  CallGate gate;
  std::atomic<bool> inside{false};
  std::atomic<bool> ends{false};
  std::thread caller([&] {
    EXPECT_TRUE(gate.enter());
    inside = true;
    while (!ends) std::this_thread::sleep_for(100us);
    gate.leave();
  });
  while (!inside) std::this_thread::sleep_for(100us);
  EXPECT_FALSE(gate.pause(5ms));
  gate.serialize();
  EXPECT_TRUE(gate.enter());  // a call that never returns does not block other calls for ever
  gate.leave();
  EXPECT_FALSE(gate.close());
  ends = true;
  caller.join();
}

}  // namespace
