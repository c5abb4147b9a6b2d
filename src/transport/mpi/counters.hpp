/// Counters that processes of several nodes share.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/counter.hpp"
#include "transport/mpi/liveness/notices.hpp"

namespace plait::transport::mpi {

/// Creates a counter of one communicator: a slot of a window of process 0, changed by MPI's atomic operations, so that
/// no process waits for one that is busy.
///
/// If the network has no atomic operations, MPI executes them only when process 0 calls MPI. Therefore, a thread of
/// process 0 calls MPI every half millisecond while a counter exists.
///
/// Freeing a window is collective, but counters are released at any time: windows exist until MPI_Finalize.  All
/// communicators of the same processes in the same order share their windows, each of which has 2048 slots.
///
/// MPI cannot be interrupted in an atomic operation.  In programs whose waits can be interrupted, another thread makes
/// these calls, and an interrupted caller leaves its call to that thread, without knowing if the counter changes.
///
/// Collective over `everyone`, whose `notices` end the wait for the other processes.
/// errors  kArgument, on all: MPI runs below MPI_THREAD_MULTIPLE.  kSystem, on all: MPI could not create a window, or a
///         process has left or was interrupted.
std::unique_ptr<Counter> make_remote_counter(MPI_Comm everyone, Notices& notices);

}  // namespace plait::transport::mpi
