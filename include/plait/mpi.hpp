/// Collectives over MPI.  Link with plait::mpi.
#pragma once

#include <mpi.h>

#include "plait/comm.hpp"

namespace plait {

/// The processes of an MPI communicator; rank r of a layout is process r.  Works on a duplicate of `communicator`.
/// Collective.
///
/// Processes of one node meet in shared memory and wait asleep; only what crosses nodes becomes MPI messages.  The
/// first call for a communicator costs several MPI collectives and a context; later ones return the same Comm, until
/// the communicator is freed, or MPI_Finalize.  PLAIT_NODE_SIZE=n in the environment of rank 0 treats each n processes
/// of a node as a node of their own, to try out what crosses nodes.
/// errors  kSystem: MPI is not initialised, no shared memory.
Comm make_comm(MPI_Comm communicator);

}  // namespace plait
