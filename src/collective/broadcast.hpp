/// Broadcasts texts of any length from worker 0.
#pragma once

#include <exception>
#include <string>

#include "transport/transport.hpp"

namespace plait::collective {

/// Returns the text of worker 0, of any length.  The texts of the others are ignored.  Collective.
/// errors  std::bad_alloc on a worker that lacks memory for the text; the others continue.
std::string broadcast_text(transport::Transport& transport, const std::string& text);

/// Returns the text of worker 0, unless worker 0 has an error. The texts of the others are ignored. If only other
/// workers have errors, this function returns there as well, and they contribute their errors to the next agreement.
/// Collective.
/// errors  `failure` of worker 0, the same on every worker.  std::bad_alloc as in broadcast_text().
/// cost    One broadcast of a short text, and an agreement only after an error.
std::string broadcast_result(transport::Transport& transport, const std::string& text,
                             const std::exception_ptr& failure);

}  // namespace plait::collective
