/// Return codes of MPI as errors.
#pragma once

#include <mpi.h>

namespace plait::transport::mpi {

/// errors  kSystem: names the call and MPI's own words for the code.
void check(int code, const char* call);

}  // namespace plait::transport::mpi
