/// Return codes of MPI as errors.
#pragma once

#include <mpi.h>

namespace plait::transport::mpi {

/// Checks the code that call() has returned.
/// errors  kSystem: names the call and MPI's own words for the code, or says that MPI has ended.
void check(int code, const char* what);

}  // namespace plait::transport::mpi
