/// Runs the endings (transport/ending.hpp) when the program calls MPI_Finalize.
#pragma once

namespace plait::transport::mpi {

/// From the first call on.  MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else, while all of MPI
/// still works.  Not collective; not on two threads at once.
/// errors  kSystem: MPI refuses.
void watch_finalize();

}  // namespace plait::transport::mpi
