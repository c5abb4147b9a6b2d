/// Plans of small accesses to arrays of equal shape in different files.
#pragma once

#include <memory>

#include "plan/access/access_plan.hpp"

namespace plait::core {

/// Returns the plan that plan::plan_access() makes, or the plan that this process made for an equal small access
/// recently.
/// errors  As plan::plan_access().
/// threads  Any.
std::shared_ptr<const plan::AccessPlan> find_or_make_plan(plan::Section section, const Layout& layout,
                                                          const plan::AccessTask& task,
                                                          const plan::AccessOptions& options);

}  // namespace plait::core
