/// Active messages carried by MPI.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/active.hpp"
#include "transport/mpi/liveness/losses.hpp"

namespace plait::transport::mpi {

/// Calls, payloads and answers are messages of MPI on a communicator of their own; a call's answer is received straight
/// into the caller's room, for which the receive is posted before the call is sent.  A handler thread looks for them
/// when it is woken (transport/connections/wake_ups.hpp).  It ends at MPI_Finalize at the latest.
///
/// `losses` is told of processes that end without taking leave.  Collective over `everyone`.
/// errors  kArgument, on all: MPI runs below MPI_THREAD_MULTIPLE.
std::shared_ptr<Active> make_active(MPI_Comm everyone, std::shared_ptr<CallService> service,
                                    std::shared_ptr<Losses> losses);

}  // namespace plait::transport::mpi
