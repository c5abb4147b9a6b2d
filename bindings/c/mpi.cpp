// Communicators of MPI as communicators of Plait: the part of the C interface in the library plait_mpi.

#include "plait/mpi.hpp"

#include "base/errors.hpp"
#include "objects.hpp"
#include "plait_mpi.h"
#include "transport/mpi/finalize.hpp"
#include "transport/mpi/handles.hpp"

using namespace plait::c;

namespace {

template <typename Find>
plait_status make(plait_comm** comm, Find&& communicator) {
  if (comm != nullptr) *comm = nullptr;
  return guarded(nullptr, [&] {
    // If MPI does not run, even a comparison of the program's handle would be an error.
    const MPI_Comm mpi_comm =
        plait::transport::mpi::mpi_runs() ? communicator() : MPI_COMM_WORLD;  // make_comm reports the error
    if (mpi_comm == MPI_COMM_NULL)
      plait::base::throw_argument_error("the MPI communicator is MPI_COMM_NULL; pass one that this process is in");
    auto handle = std::make_unique<plait_comm>(plait::Comm());
    handle->comm = plait::make_comm(mpi_comm);
    plait_comm*& result = output(comm, "comm");  // checked only now, because the others are in make_comm too
    result = handle.release();
  });
}

}  // namespace

plait_status plait_comm_from_mpi(MPI_Comm communicator, plait_comm** comm) {
  return make(comm, [&] { return communicator; });
}

plait_status plait_comm_from_fortran(int communicator, plait_comm** comm) {
  return make(comm, [&] { return plait::transport::mpi::comm_from_fortran(communicator); });
}
