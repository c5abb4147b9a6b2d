/// Dimension scales of a new file (HDF5 Dimension Scale Specification; netCDF-4 format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "container/content.hpp"

namespace plait::container::hdf5 {

/// A dataset that represents a dimension.
struct Scale {
  std::string name;  ///< path of the dataset
  std::int64_t length = 0;
  std::optional<std::size_t> member;  ///< number of the array that is the scale; empty if the scale is only a dimension
  bool unlimited = false;             ///< true if the dimension is unlimited, so that arrays may be shorter
  /// The arrays that have the dimension, each with the number of the dimension in the array.
  std::vector<std::pair<std::size_t, std::size_t>> uses{};
};

/// The scales of a file, and how its arrays use them.
struct Scales {
  std::vector<Scale> scales;
  /// Numbers of the netCDF arrays that have the name of a dimension but are not its coordinate variable.
  std::set<std::size_t> non_coordinates;
  /// For each array and each of its dimensions, the number of the scale; -1 if there is none.
  std::vector<std::vector<std::ptrdiff_t>> scales_by_member;
};

/// Finds the scale of each named dimension.
///
/// The scale is the one-dimensional array of this name, in the group of the array or above it, with the same number of
/// elements unless both are unlimited. In netCDF files a new scale is added, in the group of the array, for a dimension
/// without such an array. A dimension has no scale if its name belongs to a group or to a scale of another length; in
/// netCDF files the other dimensions of the same array then have no scale either.
Scales plan_scales(const std::vector<Member>& members, const std::vector<GroupAttributes>& groups, bool is_netcdf);

/// Returns the path of the group of an object; empty for the root group.
std::string parent_group(const std::string& name);

}  // namespace plait::container::hdf5
