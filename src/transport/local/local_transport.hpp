/// A transport whose workers are processes of one host that were started together without MPI.
#pragma once

#include <chrono>
#include <memory>

#include "transport/local/job.hpp"
#include "transport/transport.hpp"

namespace plait::transport::local {

/// Waits for the other processes of the job.  Collective over them.  When a process exits, run_endings() (ending.hpp)
/// notifies the others.
/// errors  Those of Rendezvous; kSystem, on every process: no shared memory.
std::shared_ptr<Transport> make_transport(const Job& job, std::chrono::duration<double> timeout);

}  // namespace plait::transport::local
