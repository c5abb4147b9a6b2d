/// Converts Fortran handles to communicators.
#pragma once

#include <mpi.h>

namespace plait::transport::mpi {

/// Returns the communicator of a Fortran handle.  The standard ABI of MPI 5 does not have MPI_Fint and MPI_Comm_f2c,
/// but its integers for communicators are those of Fortran.
inline MPI_Comm comm_from_fortran(int handle) {
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
  return MPI_Comm_fromint(handle);
#else
  return MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
#endif
}

}  // namespace plait::transport::mpi
