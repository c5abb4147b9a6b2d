/// Workers that are threads of one process.
#pragma once

#include <functional>
#include <memory>

#include "transport/transport.hpp"

namespace plait::transport::thread {

/// Runs `body(transport)` on `workers` threads at once, the caller's own among them, and waits for all.
/// errors  The first worker's exception, once all have ended.  A body that leaves a collective call out hangs the
///         others, as with any transport; agree on errors before returning.
void run_team(int workers, const std::function<void(Transport&)>& body);

/// The transport of a worker that is alone.
std::unique_ptr<Transport> make_alone();

}  // namespace plait::transport::thread
