/// Finds the owners of a set of indices.  An owner map states which coordinate of a distribution owns each index.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/owner_map.hpp"
#include "plait/index_set.hpp"

namespace plait::plan {

/// Returns, in ascending order, all coordinates that own an index of `set`, and possibly some that would own one if the
/// dimension were longer or the set denser.
/// cost    O(coordinates found), or O(runs of the set) if that is less. A nested map costs all inner coordinates of the
///         outer ones found.
std::vector<std::int64_t> meeting(const IndexSet& set, const layout::OwnerMap& owner_map);

}  // namespace plait::plan
