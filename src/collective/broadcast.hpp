/// Broadcasts of texts.
#pragma once

#include <string>

#include "transport/transport.hpp"

namespace plait::collective {

/// Returns the text of worker 0, of any length.  The texts of the others are ignored.  Collective.
/// errors  std::bad_alloc on a worker that lacks memory for it; the others continue.
std::string broadcast_text(transport::Transport& transport, const std::string& mine);

}  // namespace plait::collective
