/// Converts return codes of MPI to exceptions.
#pragma once

#include <mpi.h>

namespace plait::transport::mpi {

/// Throws unless `code`, a result of call(), is MPI_SUCCESS.
/// errors  kSystem: the message names `what` and quotes MPI's description of the code, or states that MPI has ended.
void check(int code, const char* what);

}  // namespace plait::transport::mpi
