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

}  // namespace plait::base
