/// Children of MPI processes.
#pragma once

namespace plait::transport::mpi {

/// errors  kArgument: MPI was started by a process that this one is a forked child of, and is not the child's to use.
void check_not_forked();

}  // namespace plait::transport::mpi
