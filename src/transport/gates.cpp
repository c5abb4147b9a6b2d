#include "transport/gates.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <ctime>

namespace plait::transport {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// Not FUTEX_PRIVATE_FLAG: the word may lie in memory of several processes.
void wake_all(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

// The kernel compares the word with `seen` under its own lock: one raised in between does not sleep, so no wake is lost.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds most) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec limit{most.count() / kSecond, most.count() % kSecond};
  return syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0) == 0;
}

namespace {

/// Yields the core to whoever can run until the word is there or the time is up.
bool yield_for_a_while(std::atomic<std::uint32_t>& word, std::uint32_t target) {
  constexpr auto kLongest = std::chrono::microseconds(100);
  // Acquire here and release in raise(): whoever finds a counter raised finds what was written to shared memory before.
  // The difference has a sign, so that counters may pass 2^32.
  const auto reached = [&] { return static_cast<std::int32_t>(word.load(std::memory_order_acquire) - target) >= 0; };
  if (reached()) return true;
  const auto start = std::chrono::steady_clock::now();
  do {
    ::sched_yield();
    if (reached()) return true;
  } while (std::chrono::steady_clock::now() - start < kLongest);
  return false;
}

}  // namespace

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness) {
  if (yield_for_a_while(word, target)) return;
  constexpr std::chrono::milliseconds kQuarterSecond{250};
  while (true) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(seen - target) >= 0) return;
    // The time limit is for peers that never will raise it.
    if (sleep_on(word, seen, kQuarterSecond) ||
        static_cast<std::int32_t>(word.load(std::memory_order_acquire) - target) >= 0)
      continue;
    liveness.check_interruption();
    try {
      liveness.check();
    } catch (...) {
      // One that has left since may have done its part before.
      if (static_cast<std::int32_t>(word.load(std::memory_order_acquire) - target) < 0) throw;
    }
  }
}

void Gates::raise(std::atomic<std::uint32_t>& counter, std::uint32_t by) {
  // Release for what this worker has done.  Where several raise one counter, whoever finds their sum finds what all of
  // them have done: additions go on with the releases before them.
  counter.fetch_add(by, std::memory_order_acq_rel);
  wake_all(counter);
}

}  // namespace plait::transport
