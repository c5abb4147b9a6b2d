/// The ranks of MPI_COMM_WORLD for programs that may not have initialised MPI themselves.
#pragma once

#include "plait/comm.hpp"

namespace plait::c {

/// Returns the ranks of MPI_COMM_WORLD. The first call is collective. It initialises MPI for several threads, unless
/// the program has done so, and then finalises it at the end of the program. Without MPI it returns the ranks that
/// `plait run` has started, if the program has not initialised MPI either.
/// errors  kSystem: MPI is finalised already.
const Comm& world();

/// Calls a function if the program ends without MPI_Finalize after world() has initialised MPI: with the exit status
/// of this process, or with 0 if another rank has failed.
void set_failed_end_callback(void (*call)(int status) noexcept);

}  // namespace plait::c
