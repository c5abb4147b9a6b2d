/// The fill values of netCDF (netcdf.h, NC_FILL_*).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plait::container::hdf5 {

/// The bytes of the fill value that netCDF's library takes if a variable has none of its own.  Empty if elements of that
/// dtype are no numbers of netCDF; their fill value is zero.
std::vector<std::byte> netcdf_fill(const std::string& dtype);

}  // namespace plait::container::hdf5
