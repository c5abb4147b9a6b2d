/// Detects child processes of MPI processes.
#pragma once

namespace plait::transport::mpi {

/// Checks that this process may use MPI.
/// errors  kArgument: it was forked by a process in which MPI runs.
void check_not_forked();

}  // namespace plait::transport::mpi
