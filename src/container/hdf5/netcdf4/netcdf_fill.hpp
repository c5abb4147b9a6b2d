/// The fill values of netCDF (netcdf.h, NC_FILL_*).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plait::container::hdf5 {

/// Returns the fill value of netCDF's library for variables that do not state one. The result is empty if the dtype is
/// not a number type of netCDF; the fill value is then zero.
std::vector<std::byte> netcdf_fill(const std::string& dtype);

}  // namespace plait::container::hdf5
