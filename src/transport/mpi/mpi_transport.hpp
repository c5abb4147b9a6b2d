/// A transport whose workers are MPI processes.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/transport.hpp"

namespace plait::transport::mpi {

/// Checks that MPI runs in this process.
/// errors  kSystem: MPI is not initialised, or has ended.  kArgument: see check_not_forked().
void check_running();

/// Returns a transport between the processes of a communicator, which is duplicated.  Collective over `communicator`.
/// errors  kSystem: MPI is not initialised, no shared memory.
std::shared_ptr<Transport> make_transport(MPI_Comm communicator);

}  // namespace plait::transport::mpi
