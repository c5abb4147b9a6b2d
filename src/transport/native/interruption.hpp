/// Waits for other programs, which a signal to this one may end.
#pragma once

#include <chrono>
#include <string>

namespace plait::transport::native {

/// Whether the program wants the wait of the calling thread to end: where a language runs handlers of signals between its
/// own instructions only, as Python does, this runs them.
using Interruption = bool (*)();

/// Who is asked; nullptr, the default: nobody, and waits go on.
void set_interruption(Interruption asked);

/// Asked by waits that have no end of their own: after a signal, and once in kInterval, for a signal may come just before
/// a wait.
bool interrupted();
inline constexpr std::chrono::milliseconds kInterval{250};

/// errors  kSystem, EINTR: where interrupted().
void check_interrupted(const std::string& waiting_for);

}  // namespace plait::transport::native
