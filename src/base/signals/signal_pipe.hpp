/// Passes signals to a loop through a pipe, on whichever thread they arrive.
#pragma once

#include <cstdint>
#include <span>

namespace plait::base {

/// A signal that has arrived.
struct SignalRecord {
  std::int32_t number = 0;
  /// si_code, which distinguishes signals of a terminal (SI_KERNEL) from those of other processes
  std::int32_t code = 0;
};

/// Writes these signals to a pipe from now on, as SignalRecord, and returns its read end, which never blocks.
/// Blocking them and waiting with sigtimedwait() would work only with one thread: the kernel delivers a signal to any
/// thread that does not block it, and libraries start threads. Only one watch exists at a time; children of a fork
/// write nothing.
/// errors   kSystem: no pipe, or a signal that cannot be handled; the previous handlers stay.
/// threads  One at a time, together with leave_signals().
int watch_signals(std::span<const int> numbers);

/// Restores the previous handlers.
void leave_signals() noexcept;

}  // namespace plait::base
