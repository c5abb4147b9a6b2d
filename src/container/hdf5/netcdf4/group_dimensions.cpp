// Collecting the dimensions that dimension scales define.

#include "container/hdf5/netcdf4/group_dimensions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "plait/layout.hpp"

namespace plait::container::hdf5 {

void GroupDimensions::add(hid_t dataset, haddr_t address, const std::string& path) {
  if (!is_scale(hdf5_, dataset)) return;
  const Handle space(hdf5_->H5Dget_space(dataset), hdf5_->H5Sclose);
  const int count = space ? hdf5_->H5Sget_simple_extent_ndims(space.id()) : 0;
  std::array<hsize_t, kMaxDimensions> extents{};
  std::array<hsize_t, kMaxDimensions> max_extents{};
  if (count < 1 || count > kMaxDimensions ||
      hdf5_->H5Sget_simple_extent_dims(space.id(), extents.data(), max_extents.data()) < 0)
    return;
  const std::size_t slash = path.rfind('/');
  DimensionDefinition definition;
  if (slash != std::string::npos) definition.group = path.substr(0, slash);
  definition.dimension = {path.substr(slash + 1), static_cast<std::int64_t>(extents[0]),
                          max_extents[0] == H5S_UNLIMITED};
  definition.scale = address;
  definition.number = dimension_number(hdf5_, dataset).value_or(next_number_);
  next_number_ = std::max(next_number_, definition.number + 1);
  definitions_.push_back(std::move(definition));
}

void GroupDimensions::assign(std::vector<GroupAttributes>& groups, ScaleTable& scales) {
  std::map<std::string, GroupAttributes*> groups_by_name;
  for (GroupAttributes& group : groups) groups_by_name.emplace(group.group, &group);
  std::ranges::stable_sort(definitions_, {}, &DimensionDefinition::number);
  for (DimensionDefinition& definition : definitions_) {
    const auto found = groups_by_name.find(definition.group);
    if (found == groups_by_name.end()) continue;
    if (definition.dimension.unlimited)
      definition.dimension.length = std::max(definition.dimension.length, scales.records(definition.scale));
    found->second->dimensions.push_back(std::move(definition.dimension));
  }
}

}  // namespace plait::container::hdf5
