/// Which datasets of a new file stand for dimensions (HDF5 Dimension Scale Specification; netCDF-4 format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"

namespace plait::container::hdf5 {

/// A dataset that stands for a dimension.
struct Scale {
  std::string name;  ///< its path
  std::int64_t length = 0;
  std::optional<std::size_t> member;  ///< the array that it is; none: it is only a dimension
  bool unlimited = false;             ///< then arrays that have it may be shorter
  /// The arrays that have it, and as which dimension.
  std::vector<std::pair<std::size_t, std::size_t>> used{};
};

struct Scales {
  std::vector<Scale> scales;
  /// For each array, for each of its dimensions: the number of the scale; -1: there is none.
  std::vector<std::vector<std::ptrdiff_t>> of_members;
};

/// Names of dimensions stand for the array of one dimension that has the name, and as many elements where neither is
/// unlimited, in the group of the array or above it; in netCDF's files where there is none, for a dimension that is made in the array's group.  A name
/// that is taken by something else stands for none; in netCDF's files all names of such an array do.
Scales scales_of(const std::vector<Member>& members, const std::vector<GroupAttributes>& groups, bool of_netcdf);

/// The path of the group that an object is in; empty: the one that all are in.
std::string group_of(const std::string& name);

}  // namespace plait::container::hdf5
