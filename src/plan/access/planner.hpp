/// The choice of the strategy and the readers with the shortest predicted time.
#pragma once

#include "plan/access/access_plan.hpp"

namespace plait::plan {

/// Makes the plan of an access.  Deterministic: all ranks make the same plan from the same arguments.
/// errors  kArgument: as AccessPlan, and a direct access to an array in chunks.
AccessPlan plan_access(Section section, Layout layout, const AccessTask& task, const AccessOptions& options);

/// True if the cost model may choose the strategy, and strategies other than the plan's are possible.
bool has_alternatives(const AccessPlan& plan);
/// True if each node could read everything that its ranks need.
bool can_read_in_each_node(const AccessPlan& plan);

}  // namespace plait::plan
