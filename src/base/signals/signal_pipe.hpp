/// Signals that are looked after by a loop, whichever thread they come on.
#pragma once

#include <cstdint>
#include <span>

namespace plait::base {

/// A signal that has come.
struct SignalRecord {
  std::int32_t number = 0;
  std::int32_t code = 0;  ///< si_code, which tells a terminal's signals (SI_KERNEL) from those of other processes
};

/// Has these signals written to a pipe from now on, as SignalRecord, and returns its end to read from, which never
/// blocks.  To block them and wait for them by sigtimedwait() would do only where there is one thread: the kernel gives a signal
/// to any thread that does not block it, and libraries start threads.  One at a time; children of a fork write nothing.
/// errors  kSystem: no pipe, or a signal that cannot be handled; what was before stays.
/// threads  One at a time, as leave_signals().
int watch_signals(std::span<const int> numbers);

/// Handles them as before.
void leave_signals() noexcept;

}  // namespace plait::base
