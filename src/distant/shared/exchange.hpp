/// Texts of any length between ranks.
#pragma once

#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "transport/transport.hpp"

namespace plait::distant::shared {

/// Each rank makes its text where the exchange begins, so that one that cannot make it brings its error there.
using MakeText = base::FunctionRef<std::string()>;

/// What each rank says; empty on all but rank 0.  Collective.
/// cost    A message a rank, all to rank 0, and three reductions.
/// errors  The same on all ranks.
std::vector<std::string> gather(transport::Transport& transport, MakeText make);
/// What rank 0 says, for all.  Collective.
/// errors  The same on all ranks.
std::string tell(transport::Transport& transport, MakeText make);

}  // namespace plait::distant::shared
