/// Counters that processes of several nodes share.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/counter.hpp"
#include "transport/mpi/liveness/notices.hpp"

namespace plait::transport::mpi {

/// A counter of one communicator: a slot of a window of process 0, changed by MPI's atomic operations, so that nobody
/// waits for a process that is doing something else.
///
/// Where the network has no atomic operations of its own, MPI carries them out when process 0 is in an MPI call: as
/// long as a counter is held, a thread of process 0 calls MPI every half millisecond.
///
/// Freeing a window is collective, but counters go when their owners like: windows are kept until MPI_Finalize.  All
/// communicators of the same processes in the same order share theirs, each of which has room for 2048 counters.
///
/// MPI cannot be interrupted in an atomic operation.  In programs whose waits can be, another thread makes these calls,
/// and an interrupted wait leaves its call to that thread: whether the counter changes is not known then.
///
/// Collective over `everyone`, whose `notices` end the wait for the other processes.
/// errors  kArgument, on all: MPI runs below MPI_THREAD_MULTIPLE.  kSystem, on all: MPI could make no window, or a
///         process has left or was interrupted.
std::unique_ptr<Counter> make_remote_counter(MPI_Comm everyone, Notices& notices);

}  // namespace plait::transport::mpi
