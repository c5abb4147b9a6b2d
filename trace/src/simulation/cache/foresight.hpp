/// The knowledge of the rest of a trace for policies that look ahead.
#pragma once

#include <span>

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

/// Sets Use::next, the position of the next use of the block, or Use::processes, the number of processes that use it.
/// cost    O(1) a use.
/// memory  in proportion to distinct blocks, and for processes to distinct pairs of a block and a process.
/// errors  kArgument: more than 2^32 - 2 distinct blocks or pairs.
void foresee(std::span<Use> uses, Foresight foresight);

}  // namespace plait::simulation
