/// Attributes of datasets and groups.
#pragma once

#include <string_view>

#include "container/hdf5/library.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

/// All of an object, but for those by which HDF5 and netCDF-4 keep dimensions.  Types that have no value in Plait are
/// there with the reason.
/// of_netcdf: lists of one number become numbers, because netCDF does not distinguish them.
ArrayAttributes attributes_of(const Library& hdf5, hid_t object, bool of_netcdf);

/// Whether an attribute belongs to the description of dimensions, and is none of a user's.
/// is_scale: whether the object is a dimension scale.
bool is_internal(std::string_view name, bool is_scale);

}  // namespace plait::container::hdf5
