/// Plans in words.
#pragma once

#include <string>

#include "plan/access/access_plan.hpp"

namespace plait::plan {

/// Describes an access of a store in lines for people: its strategy, requests, windows, messages and memory.
std::string explain(const AccessPlan& plan, const std::string& store_name);

}  // namespace plait::plan
