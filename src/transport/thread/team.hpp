/// A transport whose workers are threads of one process.
#pragma once

#include <functional>
#include <memory>

#include "transport/transport.hpp"

namespace plait::transport::thread {

/// Runs `body(transport)` on `workers` threads at once, one of which is the caller's, and waits for all of them.
/// errors  The exception of the worker with the lowest rank, after all have ended.  If one `body` omits a collective
///         call, the others hang, as with any transport; agree on errors before returning.
void run_team(int workers, const std::function<void(Transport&)>& body);

/// Returns the transport of a single worker.
std::unique_ptr<Transport> make_alone();

}  // namespace plait::transport::thread
