// Communicators of MPI as communicators of Plait: the part of the C interface in the library plait_mpi.

#include "plait/mpi.hpp"

#include "objects.hpp"
#include "plait_mpi.h"

using namespace plait::c;

namespace {

/// A handle of a program that has not started MPI, or has ended it, may not even be looked at.
bool mpi_runs() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

template <typename Find>
plait_status make(plait_comm** comm, Find&& communicator) {
  if (comm != nullptr) *comm = nullptr;
  return guarded(nullptr, [&] {
    const MPI_Comm given = mpi_runs() ? communicator() : MPI_COMM_WORLD;  // make_comm says that MPI is not running
    if (given == MPI_COMM_NULL) refuse("the MPI communicator is MPI_COMM_NULL; pass one that this process is in");
    auto handle = std::make_unique<plait_comm>(plait::Comm());
    handle->comm = plait::make_comm(given);
    plait_comm*& result = output(comm, "comm");  // only now, for the others are in make_comm too
    result = handle.release();
  });
}

}  // namespace

plait_status plait_comm_from_mpi(MPI_Comm communicator, plait_comm** comm) {
  return make(comm, [&] { return communicator; });
}

plait_status plait_comm_from_fortran(int communicator, plait_comm** comm) {
  return make(comm, [&] { return MPI_Comm_f2c(static_cast<MPI_Fint>(communicator)); });
}
