/// The replacement policies, each in the file of its name; registry.cpp lists them.
#pragma once

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

const PolicyKind& lru();

}  // namespace plait::simulation
