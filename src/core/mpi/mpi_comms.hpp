/// The Comms that MPI communicators hold as attributes.
#pragma once

namespace plait::core {

/// Releases the Comm of each communicator, because this process is about to end.  A Comm on which files are open lives
/// until these are closed.  A later use creates a new Comm.  Waits for calls that were started on them.
/// threads  A thread that may call MPI.
void release_comms() noexcept;

}  // namespace plait::core
