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

// Not FUTEX_PRIVATE_FLAG: the word may lie in memory of several processes.
void wake_all(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

// The kernel compares the word with `seen` under its own lock: one raised in between does not sleep, so no wake is
// lost.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds most) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec limit{most.count() / kSecond, most.count() % kSecond};
  return syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0) == 0;
}

namespace {

/// Yields the core to whoever can run until `done` or the time is up.
bool yield_for_a_while(base::FunctionRef<bool()> done) {
  constexpr auto kLongest = std::chrono::microseconds(100);
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  do {
    ::sched_yield();
    if (done()) return true;
  } while (std::chrono::steady_clock::now() - start < kLongest);
  return false;
}

/// Looks at a Liveness while a worker waits: four times a second, and for an interruption ten times a second.
class LivenessTimer {
 public:
  explicit LivenessTimer(Liveness& liveness) : liveness_(liveness) {}
  /// errors  What the Liveness finds, unless `done`: a worker that has left since may have done its part before.
  void look(base::FunctionRef<bool()> done) {
    const auto now = Clock::now();
    if (interruption_.is_due(now)) liveness_.check_interruption();
    if (now - looked_ < kBetweenLooks) return;
    looked_ = now;
    try {
      liveness_.check();
    } catch (...) {
      if (!done()) throw;
    }
  }

 private:
  using Clock = base::InterruptionTimer::Clock;
  static constexpr std::chrono::milliseconds kBetweenLooks{250};

  Liveness& liveness_;
  base::InterruptionTimer interruption_;
  Clock::time_point looked_ = Clock::now();
};

/// Naps begin with this one and double.
void wait(base::FunctionRef<bool()> done, std::atomic<std::uint32_t>& word, Liveness& liveness,
          std::chrono::nanoseconds nap) {
  if (yield_for_a_while(done)) return;
  LivenessTimer timer(liveness);
  while (true) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (done()) return;
    // The time limit is for what raises another word, for peers that never will raise this one, and for signals that
    // another thread of this process gets.
    if (!sleep_on(word, seen, nap)) nap = std::min<std::chrono::nanoseconds>(2 * nap, base::kBetweenInterruptions);
    if (done()) return;
    timer.look(done);
  }
}

}  // namespace

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness) {
  // Acquire here and release in raise(): whoever finds a counter raised finds what was written to shared memory before.
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
    timer.look(done);
  }
}

void Gates::raise(std::atomic<std::uint32_t>& counter, std::uint32_t by) {
  // Release for what this worker has done.  Where several raise one counter, whoever finds their sum finds what all of
  // them have done: additions go on with the releases before them.
  counter.fetch_add(by, std::memory_order_acq_rel);
  wake_all(counter);
}

}  // namespace plait::transport
