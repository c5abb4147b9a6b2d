/// A transport whose workers are MPI processes.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/transport.hpp"

namespace plait::transport::mpi {

/// errors  kSystem: MPI is not initialised, or has ended.
void check_running();

/// Collective over `communicator`.
/// errors  kSystem: MPI is not initialised, no shared memory.
std::shared_ptr<Transport> make_transport(MPI_Comm communicator);

}  // namespace plait::transport::mpi
