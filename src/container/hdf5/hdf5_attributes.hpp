/// Attributes of datasets and groups.
#pragma once

#include <string_view>

#include "container/hdf5/library.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

/// Reads all attributes of an object except those that HDF5 and netCDF-4 use for dimensions. An attribute of a type
/// that Plait does not support is listed with ArrayAttribute::error.
/// is_netcdf: lists of one number become numbers, because netCDF does not distinguish them.
ArrayAttributes read_attributes(const Library& hdf5, hid_t object, bool is_netcdf);

/// Returns true if an attribute belongs to the description of dimensions rather than to the user.
/// is_scale: true if the object is a dimension scale.
bool is_internal(std::string_view name, bool is_scale);

}  // namespace plait::container::hdf5
