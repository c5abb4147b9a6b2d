/// The dimensions that the groups of a file define, as netCDF's library numbers them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/library.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

/// The dimensions of all groups. Each dimension scale defines a dimension of its group, with the name of the scale and
/// its first length.
class GroupDimensions {
 public:
  explicit GroupDimensions(const Library& hdf5) : hdf5_(hdf5) {}

  /// Records a dataset if it is a scale. It is called for all datasets of a file, in the order in which netCDF's
  /// library visits them.
  void add(hid_t dataset, haddr_t address, const std::string& path);
  /// Adds the dimensions to their groups, by ascending numbers. `scales` must have seen all datasets of the file.
  void assign(std::vector<GroupAttributes>& groups, ScaleTable& scales);

 private:
  struct DimensionDefinition {
    std::string group;
    GroupDimension dimension;
    haddr_t scale = 0;
    std::int64_t number = 0;  ///< the netCDF number of the dimension
  };

  const Library& hdf5_;
  std::vector<DimensionDefinition> definitions_;
  std::int64_t next_number_ = 0;  ///< for a scale without a number: greater than all before
};

}  // namespace plait::container::hdf5
