/// What the communicators of MPI that are in use keep for us.
#pragma once

namespace plait::core {

/// Lets all of them go that no file is open on, for this process is about to leave the program.  What uses them later
/// makes them anew.  Waits for what was started on them.
/// threads  One that may call MPI.
void forget_comms() noexcept;

}  // namespace plait::core
