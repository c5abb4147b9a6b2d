/// Texts that all workers hear.
#pragma once

#include <string>

#include "transport/transport.hpp"

namespace plait::collective {

/// A text of any length from worker 0; what the others pass does not matter.  Collective.
/// errors  std::bad_alloc on a worker that has no memory for it; the others go on.
std::string broadcast_text(transport::Transport& transport, const std::string& mine);

}  // namespace plait::collective
