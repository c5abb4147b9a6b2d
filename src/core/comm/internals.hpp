/// The parts of a Comm, for the layers that make its calls.
#pragma once

#include <memory>

#include "plait/comm.hpp"

namespace plait::transport {
class Transport;
}

namespace plait::core {

class Worker;

/// Returns a Comm of the ranks of a transport, with a new worker.
Comm comm_over(std::shared_ptr<transport::Transport> transport);

/// Returns the transport of a Comm, which lives as long as the Comm or a copy of it.  In a process that is alone (one
/// rank), all such Comms share one transport of one rank; only calls that run one after another use it.
transport::Transport& get_transport(const Comm& comm);

/// Returns the worker that carries out nonblocking calls.
std::shared_ptr<Worker> get_worker(const Comm& comm);

}  // namespace plait::core
