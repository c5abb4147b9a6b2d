/// Counters that processes of several nodes share.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/counter.hpp"

namespace plait::transport::mpi {

class CounterWindow;

/// Makes the counters of one communicator: places in a window of process 0, changed by MPI's atomic operations, so that
/// nobody waits for a process that is doing something else.
///
/// Where the network has no atomic operations of its own, MPI carries them out when process 0 is in an MPI call: as
/// long as a counter is held, a thread of process 0 calls MPI every half millisecond.  It needs MPI_THREAD_MULTIPLE;
/// without that level the others may wait until process 0 comes to an MPI call by itself.
///
/// Freeing a window is collective, but counters go when their owners like: windows are kept until MPI_Finalize.
class RemoteCounters {
 public:
  /// Collective over `everyone`, which is the same each time.  errors  kSystem, on all: MPI could make no window.
  std::unique_ptr<Counter> make(MPI_Comm everyone);

 private:
  std::shared_ptr<CounterWindow> window_;
};

}  // namespace plait::transport::mpi
