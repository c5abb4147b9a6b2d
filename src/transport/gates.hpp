/// Counters on which the workers of one node wait for each other, asleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/function_ref.hpp"

namespace plait::transport {

/// Wakes all waiters of a futex word.
void wake_all(std::atomic<std::uint32_t>& word);

/// Sleeps until the word is no longer `seen`, or somebody wakes its waiters, or the time is up: whether it was woken.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds most);

/// Whether a counter has come to a target, modulo 2^32: the difference has a sign.
inline bool reached(const std::atomic<std::uint32_t>& counter, std::uint32_t target) {
  return static_cast<std::int32_t>(counter.load(std::memory_order_acquire) - target) >= 0;
}

/// Tells while a worker waits whether those it waits for are still there.
class Liveness {
 public:
  virtual ~Liveness() = default;
  /// errors  kSystem: names a worker that has ended.
  virtual void check() = 0;
  /// Tells whether this worker itself is to wait no longer, whatever the others do.  It is not, where the others could
  /// not be told.
  /// errors  kSystem, EINTR: the program wants the wait to end; the others are told.
  virtual void check_interruption() {}
};

/// Waits until `word` has reached `target`, counted modulo 2^32.
/// cost    Yields its core to whoever can run for 100 us, then sleeps by futex: with more workers than cores a barrier
///         that kept its core would cost a scheduler quantum.
/// errors  kSystem: what `liveness` finds, looked at four times a second, and asked for an interruption ten times.
void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness);

/// Waits until `done` says so, which is asked whenever `word` is woken, and now and then besides: at first many times a
/// millisecond, later ten times a second.
/// errors  As wait_for().
void wait_until(base::FunctionRef<bool()> done, std::atomic<std::uint32_t>& word, Liveness& liveness);

/// Waits until `done` says so where nobody wakes this worker, as it looks at messages: it is asked again and again.
/// errors  As wait_for().
void poll_until(base::FunctionRef<bool()> done, Liveness& liveness);

/// What one worker's window slot has been through.  Readers raise `filled` and wait on `taken`; writers raise `taken`
/// for a flushed slot and wait on `filled`.
struct Slot {
  std::atomic<std::uint32_t> filled{0};
  std::atomic<std::uint32_t> taken{0};
  std::atomic<std::uint32_t> claimed{0};  ///< uses whose windows some worker has begun to fill, or to flush
};

/// The slots of all workers of a node.
class Gates {
 public:
  virtual ~Gates() = default;
  static constexpr int kSlots = 2;
  virtual Slot& slot(int node_rank, int index) = 0;
  virtual Liveness& liveness() = 0;

  /// Adds `by` to a counter and wakes its waiters.
  static void raise(std::atomic<std::uint32_t>& counter, std::uint32_t by = 1);
  void wait(std::atomic<std::uint32_t>& counter, std::uint32_t target) { wait_for(counter, target, liveness()); }
};

}  // namespace plait::transport
