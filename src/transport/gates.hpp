/// Counters in shared memory on which the workers of one node wait for each other without spinning.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "base/function_ref.hpp"

namespace plait::transport {

/// Wakes all waiters of a futex word.
void wake_all(std::atomic<std::uint32_t>& word);

/// Sleeps until the word differs from `seen`, its waiters are woken, or the time has elapsed.  Returns true if it was
/// woken.
bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout);

/// Returns true if a counter has reached a target, modulo 2^32: the difference is taken as a signed number.
inline bool reached(const std::atomic<std::uint32_t>& counter, std::uint32_t target) {
  return static_cast<std::int32_t>(counter.load(std::memory_order_acquire) - target) >= 0;
}

/// Checks, while a worker waits, that the workers for which it waits have not ended.
class Liveness {
 public:
  virtual ~Liveness() = default;
  /// errors  kSystem: names a worker that has ended.
  virtual void check() = 0;
  /// Checks if a signal asks to interrupt the wait of this worker.  A wait is not interrupted if the other workers
  /// cannot be notified of it.
  /// errors  kSystem, EINTR: the wait is interrupted, and the others have been notified.
  virtual void check_interruption() {}
};

/// Waits until `word` has reached `target`, counted modulo 2^32.
/// cost  Yields its core for 100 us, then sleeps by futex: with more workers than cores, a barrier that spins would
///       cost a scheduler quantum.
/// errors  kSystem: those of `liveness`, which is checked four times a second, and ten times for an interruption.
void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness);

/// Waits until `done` returns true. It is called whenever `word` is woken, and additionally at intervals: at first many
/// times per millisecond, later ten times per second.
/// errors  as wait_for()
void wait_until(base::FunctionRef<bool()> done, std::atomic<std::uint32_t>& word, Liveness& liveness);

/// Waits until `done`, which is polled, returns true, for events that do not wake this worker, such as messages.
/// errors  as wait_for()
void poll_until(base::FunctionRef<bool()> done, Liveness& liveness);

/// The progress of one window slot of a worker.  Readers raise `filled` and wait for `taken`; writers raise `taken` for
/// a flushed slot and wait for `filled`.
struct Slot {
  std::atomic<std::uint32_t> filled{0};
  std::atomic<std::uint32_t> taken{0};
  /// Number of uses of the slot that a worker has claimed, to fill or to flush its window.
  std::atomic<std::uint32_t> claimed{0};
};

/// The slots of all workers of a node.
class Gates {
 public:
  virtual ~Gates() = default;
  static constexpr int kSlots = 2;
  virtual Slot& slot(int node_rank, int index) = 0;
  virtual Liveness& liveness() = 0;
  /// Returns the marks of a worker: numbers that only it stores and that the others of its node may load at any time.
  /// All are 0 at first.
  static constexpr int kMarks = 64;
  virtual std::span<std::atomic<std::int64_t>> marks(int node_rank) = 0;

  /// Adds `by` to a counter and wakes its waiters.
  static void raise(std::atomic<std::uint32_t>& counter, std::uint32_t by = 1);
  void wait(std::atomic<std::uint32_t>& counter, std::uint32_t target) { wait_for(counter, target, liveness()); }
};

}  // namespace plait::transport
