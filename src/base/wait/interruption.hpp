/// Interruption of long waits by the user.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/function_ref.hpp"

namespace plait::base {

/// Returns true if a wait is to end, as in Python after Ctrl-C. Called on the waiting thread.
using InterruptionCheck = bool (*)();

/// Called before other threads wait; nullptr: no wait can be interrupted.
void set_interruption_check(InterruptionCheck check) noexcept;

/// True if waits of this program can be interrupted.
bool can_be_interrupted() noexcept;

/// True if the wait is to end.
bool interrupted();

/// While it exists, waits of this thread also end when `wanted` returns true, because the thread that waits for this
/// one may receive the signal.
class InterruptionScope {
 public:
  explicit InterruptionScope(FunctionRef<bool()> wanted) noexcept;
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

 private:
  FunctionRef<bool()> wanted_;
  const InterruptionScope* outer_;
  friend bool interrupted();
};

/// While it exists, no wait of this thread is interrupted.  Used by destructors, which must not throw.
class UninterruptedScope {
 public:
  UninterruptedScope() noexcept;
  ~UninterruptedScope();
  UninterruptedScope(const UninterruptedScope&) = delete;
  UninterruptedScope& operator=(const UninterruptedScope&) = delete;
};

/// The interval between two checks in waits that a signal does not end by itself.
inline constexpr std::chrono::milliseconds kBetweenInterruptions{100};

/// errors  kSystem, EINTR: the wait is to end.
void check_interruption();

/// Limits how often a polling wait checks for an interruption. A poll costs a comparison of times; only one in
/// kBetweenInterruptions costs a call of interrupted(), which may have to wait for Python's lock.
class InterruptionTimer {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns true once in kBetweenInterruptions.
  bool is_due(Clock::time_point now = Clock::now()) {
    if (now - asked_ < kBetweenInterruptions) return false;
    asked_ = now;
    return true;
  }

 private:
  Clock::time_point asked_ = Clock::now();
};

/// Waits on a condition variable until `done`.  If the wait is to end before that, calls `interrupt` under the lock,
/// which makes what is waited for end soon, and calls it again now and then until it has ended.  Returns whether it was
/// called.
template <typename Done, typename Interrupt>
bool wait_or_interrupt(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Done& done,
                       const Interrupt& interrupt) {
  // Twice as often as other waits, as what is waited for may itself have to ask; and soon at first: of many waits after
  // an interruption each one is short.
  std::chrono::milliseconds between{2};
  bool called = false;
  for (; !changed.wait_for(lock, between, done); between = std::min(2 * between, kBetweenInterruptions / 2)) {
    if (!called) {
      lock.unlock();  // a signal's handler may use what the lock protects
      called = interrupted();
      lock.lock();
    }
    if (called && !done()) interrupt();
  }
  return called;
}

/// Sleeps for `time`.
/// errors  kSystem, EINTR: the wait is to end.
void sleep_for(std::chrono::steady_clock::duration time);

}  // namespace plait::base
