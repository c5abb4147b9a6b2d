/// Detects child processes of MPI processes.
#pragma once

namespace plait::transport::mpi {

/// errors  kArgument: a process that uses MPI has forked this one, which must not use MPI.
void check_not_forked();

}  // namespace plait::transport::mpi
