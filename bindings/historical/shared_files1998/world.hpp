/// The processes that share files.
#pragma once

#include "plait/comm.hpp"

namespace plait::ga {

/// Those of MPI_COMM_WORLD; this one where it is the only one or MPI is not started.  Collective.
/// errors  The same on every rank.  kSystem: MPI has been finalised, or was not started by one of several processes.
Comm world();

/// From now on `let_go` is called when MPI is finalised, while it still works, and at the end of a program without MPI.
void watch_the_end(void (*let_go)());

}  // namespace plait::ga
