/// netCDF's classic formats, CDF-1, CDF-2 and CDF-5: their variables are read, and changed in place.
#pragma once

#include "container/format.hpp"

namespace plait::container::netcdf {

const Format& format();

}  // namespace plait::container::netcdf
