/// netCDF's classic formats CDF-1, CDF-2 and CDF-5. Plait reads files of these formats and changes them in place, but
/// does not create them.
#pragma once

#include "container/format.hpp"

namespace plait::container::netcdf {

const Format& format();

}  // namespace plait::container::netcdf
