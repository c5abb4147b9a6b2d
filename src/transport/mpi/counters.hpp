/// Counters that processes of several nodes share.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/counter.hpp"
#include "transport/mpi/liveness/notices.hpp"

namespace plait::transport::mpi {

/// Creates a counter of one communicator: a slot in memory of process 0, an MPI window, which is changed by MPI's
/// atomic operations, so that no process waits for a busy one.
///
/// If the network has no atomic operations, MPI executes them only when process 0 calls MPI. Therefore, a thread of
/// process 0 calls MPI every half millisecond while a counter exists.
///
/// Freeing a window is collective, but counters are released at any time, so windows exist until MPI_Finalize.
/// Communicators of the same processes in the same order share windows, each of which has 2048 slots.
///
/// MPI cannot be interrupted in an atomic operation.  In programs whose waits can be interrupted
/// (base/wait/interruption.hpp), another thread makes these calls.  A caller that is interrupted does not wait for that
/// thread any longer, and does not know if the counter will change.
///
/// Collective over `everyone`, whose `notices` end the wait for the other processes.
/// errors  kArgument, on all: MPI runs below MPI_THREAD_MULTIPLE.  kSystem, on all: MPI could not create a window, or a
///         process has left or was interrupted.
std::unique_ptr<Counter> make_remote_counter(MPI_Comm everyone, Notices& notices);

}  // namespace plait::transport::mpi
