/// Communicators over MPI.  Link with plait::mpi.
#pragma once

#include <mpi.h>

#include "plait/comm.hpp"

namespace plait {

/// Returns the processes of an MPI communicator; rank r of a layout is process r.  Works on a duplicate of
/// `communicator`.  Collective.
///
/// Processes of one node communicate through shared memory and sleep while they wait; only data between nodes is sent
/// as MPI messages.  The first call for a communicator costs several MPI collectives and a context id; later calls
/// return the same Comm, until the communicator is freed or MPI_Finalize is called.  PLAIT_NODE_SIZE=n in the
/// environment of rank 0 treats each n processes of a node as a separate node, to test communication between nodes.
/// errors  kSystem: MPI is not initialised, no shared memory.
Comm make_comm(MPI_Comm communicator);

}  // namespace plait
