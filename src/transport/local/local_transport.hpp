/// A transport whose workers are processes of one host that were started together without MPI.
#pragma once

#include <chrono>
#include <memory>

#include "transport/local/job.hpp"
#include "transport/transport.hpp"

namespace plait::transport::local {

/// Waits for the other processes of the job.  Collective over them. A process that ends notifies the others by
/// run_endings(), which is called when it exits.
/// errors  Those of Rendezvous; kSystem, on every process: no shared memory.
std::shared_ptr<Transport> make_transport(const Job& job, std::chrono::duration<double> timeout);

}  // namespace plait::transport::local
