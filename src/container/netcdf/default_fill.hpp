/// The fill values of netCDF (netcdf.h, NC_FILL_*).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plait::container::netcdf {

/// Returns the fill value that netCDF's library uses for variables that do not state one. Returns an empty value, which
/// stands for zero, if the dtype is not a number type of netCDF.
std::vector<std::byte> default_fill(const std::string& dtype);

}  // namespace plait::container::netcdf
