/// Adds to each use of a block what policies that look ahead must know about the rest of the trace.
#pragma once

#include <span>

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

/// Sets one member of all uses: Use::next, the position of the next use of the block, for kNext; Use::processes, the
/// number of processes that use the block, for kProcesses.
/// cost    O(1) a use.
/// memory  in proportion to distinct blocks, and for processes to distinct pairs of a block and a process.
/// errors  kArgument: more than 2^32 - 2 distinct blocks or pairs.
void add_foresight(std::span<Use> uses, Foresight foresight);

}  // namespace plait::simulation
