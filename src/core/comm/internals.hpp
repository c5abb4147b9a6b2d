/// What a Comm is made of, for the layers that make its calls.
#pragma once

#include <memory>

#include "plait/comm.hpp"

namespace plait::transport {
class Transport;
}

namespace plait::core {

class Worker;

/// A Comm of the ranks of a transport, with a worker of its own.
Comm comm_over(std::shared_ptr<transport::Transport> transport);

/// Lives as long as the Comm or a copy of it.  Processes that are alone have one of one rank for all such Comms; only
/// calls that take turns use it.
transport::Transport& transport_of(const Comm& comm);

/// What carries out nonblocking calls.
std::shared_ptr<Worker> worker_of(const Comm& comm);

}  // namespace plait::core
