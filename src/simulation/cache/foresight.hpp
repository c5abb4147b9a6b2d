/// What policies that look ahead are told of a trace.
#pragma once

#include <span>

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

/// Tells each use when its block is used next, counted from the first use, or how many processes use it in all.
/// cost    O(1) a use.  memory  in proportion to distinct blocks, and for processes to distinct pairs.
/// errors  kArgument: more than 2^32 - 2 distinct blocks or pairs.
void foresee(std::span<Use> uses, Foresight foresight);

}  // namespace plait::simulation
