/// The processes that share files.
#pragma once

#include "plait/comm.hpp"

namespace plait::ga {

/// Returns the processes of MPI_COMM_WORLD, or this process alone if it is the only one or MPI is not initialised.
/// Collective.
/// errors  The same on every rank. kSystem: MPI has been finalised, or it is not initialised although a launcher
/// started several processes.
Comm world();

/// Makes MPI_Finalize call `release` at its beginning, while MPI still works. Without MPI, exit() calls it.
void release_at_end(void (*release)());

}  // namespace plait::ga
