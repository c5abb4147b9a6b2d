/// Lists the arrays and groups of a hierarchy.
#pragma once

#include <string>
#include <vector>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// The arrays and groups of a hierarchy.
struct HierarchyContent {
  std::vector<Member> members;
  std::vector<std::vector<std::string>> references;  ///< for each member, see read_dimension_references()
  std::vector<GroupAttributes> groups;
};

/// Lists the array, or the arrays and groups below the group, whose metadata is in `store`. An array that cannot be
/// read is listed with the reason.
/// file: the location of the hierarchy, to which names are relative.
/// cost  One list for each group; a network reads the metadata of all members of a group at once. On servers without
///       lists the group, or that of the hierarchy, must have consolidated metadata, which take one request. If `file`
///       has the option `consolidated=true`, other servers need no list either.
/// errors  kSystem: a list fails, or there are too many arrays or levels.
HierarchyContent list_hierarchy(const store::Store& store, const std::string& file);

}  // namespace plait::container::zarr
