/// The fill values of netCDF (netcdf.h, NC_FILL_*).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plait::container::netcdf {

/// Returns the fill value of netCDF's library for variables that do not state one. The result is empty if the dtype is
/// not a number type of netCDF; the fill value is then zero.
std::vector<std::byte> default_fill(const std::string& dtype);

}  // namespace plait::container::netcdf
