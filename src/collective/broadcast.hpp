/// Broadcasts of texts.
#pragma once

#include <exception>
#include <string>

#include "transport/transport.hpp"

namespace plait::collective {

/// Returns the text of worker 0, of any length.  The texts of the others are ignored.  Collective.
/// errors  std::bad_alloc on a worker that lacks memory for it; the others continue.
std::string broadcast_text(transport::Transport& transport, const std::string& mine);

/// Returns the text of worker 0, unless that has an error.  The texts of the others are ignored.  If only others have
/// errors, they contribute these to the next agreement.  Collective.
/// errors  `failure` of worker 0, the same on every worker.  std::bad_alloc as in broadcast_text().
/// cost    One broadcast of a short text, and an agreement only after an error.
std::string broadcast_result(transport::Transport& transport, const std::string& mine,
                             const std::exception_ptr& failure);

}  // namespace plait::collective
