/// Which coordinates of an owner map can own an index of a set.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/owner_map.hpp"
#include "plait/index_set.hpp"

namespace plait::plan {

/// Ascending: all coordinates that own an index of `set`, and perhaps some that would if the dimension were longer or
/// the set denser.
/// cost  O(coordinates found), or O(runs of the set) where that is less; a nested one costs all inner coordinates of
/// the outer ones found.
std::vector<std::int64_t> meeting(const IndexSet& set, const layout::OwnerMap& owner_map);

}  // namespace plait::plan
