/// Texts of any length between ranks.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace plait::distant::shared {

/// What each rank says; empty on all but rank 0.  Collective.  cost: two messages a rank, all to rank 0.
std::vector<std::string> gather(transport::Transport& transport, const std::string& mine);
/// What rank 0 says, for all.  Collective.
std::string tell(transport::Transport& transport, const std::string& mine);

}  // namespace plait::distant::shared
