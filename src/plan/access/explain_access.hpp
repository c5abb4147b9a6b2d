/// Descriptions of plans for people.
#pragma once

#include <string>

#include "plan/access/access_plan.hpp"

namespace plait::plan {

/// Describes an access of a store: its strategy, requests, windows, messages and memory, one per line.
std::string explain(const AccessPlan& plan, const std::string& store_name);

}  // namespace plait::plan
