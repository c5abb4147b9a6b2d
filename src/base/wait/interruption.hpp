/// Interruption of long waits by the user, such as by Ctrl-C.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/function_ref.hpp"

namespace plait::base {

/// Returns true if a wait must end, as in Python after Ctrl-C. It is called on the waiting thread.
using InterruptionCheck = bool (*)();

/// Sets the check. Call it before other threads wait. nullptr: no wait can be interrupted.
void set_interruption_check(InterruptionCheck check) noexcept;

/// True if waits of this program can be interrupted.
bool can_be_interrupted() noexcept;

/// Calls the check. Returns true if the wait of this thread must end.
bool interrupted();

/// While it exists, waits of this thread also end when `is_interrupted` returns true: another thread may wait for this
/// one, and receive the signal instead of it.
class InterruptionScope {
 public:
  explicit InterruptionScope(FunctionRef<bool()> is_interrupted) noexcept;
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

 private:
  FunctionRef<bool()> is_interrupted_;
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

/// Throws an error if the wait must end.
/// errors  kSystem, EINTR: the wait must end.
void check_interruption();

/// Limits how often a polling wait checks for an interruption. Each poll costs a comparison of times. Only once in
/// kBetweenInterruptions does it cost a call of interrupted(), which may have to wait for Python's lock.
class InterruptionTimer {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns true once in kBetweenInterruptions.
  bool is_due(Clock::time_point now = Clock::now()) {
    if (now - last_check_ < kBetweenInterruptions) return false;
    last_check_ = now;
    return true;
  }

 private:
  Clock::time_point last_check_ = Clock::now();
};

/// Waits on a condition variable until `done` returns true. If the wait is interrupted before that, calls `interrupt`
/// under the lock, which must make the awaited work end soon, and calls it repeatedly until the work has ended. Returns
/// true if it was interrupted.
template <typename Done, typename Interrupt>
bool wait_or_interrupt(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Done& done,
                       const Interrupt& interrupt) {
  // Checks twice as often as other waits, because the awaited work may itself have to check for the interruption. The
  // first intervals are short, so that many waits in succession all end soon after an interruption.
  std::chrono::milliseconds between{2};
  bool is_interrupted = false;
  for (; !changed.wait_for(lock, between, done); between = std::min(2 * between, kBetweenInterruptions / 2)) {
    if (!is_interrupted) {
      lock.unlock();  // a signal handler may use the data that the lock protects
      is_interrupted = interrupted();
      lock.lock();
    }
    if (is_interrupted && !done()) interrupt();
  }
  return is_interrupted;
}

/// Sleeps for `time`.
/// errors  kSystem, EINTR: the wait must end.
void sleep_for(std::chrono::steady_clock::duration time);

}  // namespace plait::base
