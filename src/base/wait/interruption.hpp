/// Getting out of a wait that may last for hours, where the user of a program wants so.
#pragma once

#include <chrono>

namespace plait::base {

/// Asks whether a wait is to end, as Python does after Ctrl-C.  Called on the thread that waits.
using InterruptionCheck = bool (*)();

/// Before other threads wait; nullptr: no wait ends so.
void set_interruption_check(InterruptionCheck check) noexcept;

/// Whether the wait is to end.
bool interrupted();

/// Where there is nothing that a signal ends by itself, it is asked so often.
inline constexpr std::chrono::milliseconds kBetweenInterruptions{100};

/// errors  kSystem, EINTR: the wait is to end.
void check_interruption();

/// Says when a wait that polls is to ask for an interruption: a poll costs a comparison of times, and only one in
/// kBetweenInterruptions costs what interrupted() does, which may have to wait for Python's lock.
class InterruptionTimer {
 public:
  using Clock = std::chrono::steady_clock;
  /// True once in kBetweenInterruptions.
  bool is_due(Clock::time_point now = Clock::now()) {
    if (now - asked_ < kBetweenInterruptions) return false;
    asked_ = now;
    return true;
  }

 private:
  Clock::time_point asked_ = Clock::now();
};

/// Sleeps for `time`.
/// errors  kSystem, EINTR: the wait is to end.
void sleep_for(std::chrono::steady_clock::duration time);

}  // namespace plait::base
