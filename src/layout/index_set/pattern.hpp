/// Makes index sets from lists of runs, in their simplest form.
#pragma once

#include <cstdint>
#include <vector>

#include "base/int128.hpp"
#include "plait/index_set.hpp"

namespace plait::layout {

/// Does the same as IndexSet::periodic(), for origins of any size.
IndexSet periodic(base::Int128 origin, std::int64_t stride, std::vector<Run> runs, std::int64_t begin,
                  std::int64_t end);

/// Returns the runs of one period of a set, with phases relative to its origin.
std::vector<Run> period_runs(const IndexSet& set);

/// Returns all runs of the set.
/// cost  O(log k) for each run, if a period has k runs.
std::vector<Run> all_runs(const IndexSet& set);

}  // namespace plait::layout
