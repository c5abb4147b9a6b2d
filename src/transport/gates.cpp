// Waiting for a counter in memory that the workers of a node share.
//
// Problem: a worker may wait for microseconds or for hours. Spinning costs the cores that the others need, if there are
// more workers than cores; a futex costs several microseconds per wake-up; and a worker that has ended never wakes
// anyone.
//
// Idea: wait() yields its core for 100 us, which serves short waits. Then it sleeps by futex on the counter, with a
// time limit (which wait_until() begins at 250 us and doubles), and after each sleep checks if the others are alive
// (four times a second) and if a signal has asked to interrupt the wait (ten times a second).
//
// Example of a wake-up that is not lost: the waiter loads the counter (5), tests it, and calls FUTEX_WAIT with 5. If
// another worker raises the counter to 6 in between, the kernel sees that it is not 5 and returns at once.
//
// Counters are 32 bits wide and wrap: reached(2, 0xfffffffe) is true, because the difference, 4, is positive as a
// signed number.

#include "transport/gates.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <thread>

#include "base/wait/interruption.hpp"

namespace plait::transport {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// Without FUTEX_PRIVATE_FLAG, because several processes may map the word.
void wake_all(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

// The kernel compares the word with `seen` under its own lock. If the word was raised in between, the call does not
// sleep, so no wake-up is lost.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec limit{timeout.count() / kSecond, timeout.count() % kSecond};
  return syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0) == 0;
}

namespace {

/// Yields the core to other threads until `done` returns true or the time has elapsed.
bool yield_for_a_while(base::FunctionRef<bool()> done) {
  constexpr auto kYieldTime = std::chrono::microseconds(100);
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  do {
    ::sched_yield();
    if (done()) return true;
  } while (std::chrono::steady_clock::now() - start < kYieldTime);
  return false;
}

/// Checks a Liveness while a worker waits: four times a second, and ten times a second for an interruption.
class LivenessTimer {
 public:
  explicit LivenessTimer(Liveness& liveness) : liveness_(liveness) {}
  /// errors  Those of the Liveness, unless `done` returns true: a worker may have done its part before it left.
  void check_if_due(base::FunctionRef<bool()> done) {
    const auto now = Clock::now();
    if (interruption_.is_due(now)) liveness_.check_interruption();
    if (now - last_check_ < kCheckInterval) return;
    last_check_ = now;
    try {
      liveness_.check();
    } catch (...) {
      if (!done()) throw;
    }
  }

 private:
  using Clock = base::InterruptionTimer::Clock;
  static constexpr std::chrono::milliseconds kCheckInterval{250};

  Liveness& liveness_;
  base::InterruptionTimer interruption_;
  Clock::time_point last_check_ = Clock::now();
};

/// Waits until `done` returns true.  The first sleep lasts at most `nap`; the limit doubles after each sleep that was
/// not woken.
void wait(base::FunctionRef<bool()> done, std::atomic<std::uint32_t>& word, Liveness& liveness,
          std::chrono::nanoseconds nap) {
  if (yield_for_a_while(done)) return;
  LivenessTimer timer(liveness);
  while (true) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (done()) return;
    // The time limit covers changes of other words, peers that will never raise this one, and signals that another
    // thread of this process receives.
    if (!sleep_on(word, seen, nap)) nap = std::min<std::chrono::nanoseconds>(2 * nap, base::kBetweenInterruptions);
    if (done()) return;
    timer.check_if_due(done);
  }
}

}  // namespace

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness) {
  // Acquire here and release in raise(): a worker that sees a raised counter also sees what was written to shared
  // memory before.
  const auto reached_it = [&] { return reached(word, target); };
  wait(reached_it, word, liveness, base::kBetweenInterruptions);
}

void wait_until(base::FunctionRef<bool()> done, std::atomic<std::uint32_t>& word, Liveness& liveness) {
  wait(done, word, liveness, std::chrono::microseconds(250));
}

void poll_until(base::FunctionRef<bool()> done, Liveness& liveness) {
  constexpr std::chrono::microseconds kNap{50};
  if (yield_for_a_while(done)) return;
  LivenessTimer timer(liveness);
  while (!done()) {
    std::this_thread::sleep_for(kNap);
    timer.check_if_due(done);
  }
}

void Gates::raise(std::atomic<std::uint32_t>& counter, std::uint32_t by) {
  // The release publishes what this worker has done.  If several workers raise one counter, a worker that sees their
  // sum sees what all of them have done, because the additions form a release sequence.
  counter.fetch_add(by, std::memory_order_acq_rel);
  wake_all(counter);
}

}  // namespace plait::transport
