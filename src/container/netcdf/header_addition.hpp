/// Headers of netCDF's classic formats that get a further variable.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

/// Checks that a file can have a variable. Its dimensions have the lengths of those in the header, or are new.
/// shown: the name of the variable in errors.
/// errors  kArgument: a name, a type or a dimension is impossible, or the variable has the record dimension.
void check_variable(const Header& header, const Member& member, const std::string& shown);

/// Returns the header with the variable, which is longer. before: the present header.
/// errors  kArgument: the format has no such attribute.
std::vector<std::byte> add_to_header(const Header& header, std::span<const std::byte> before, const Member& member,
                                     const std::string& shown);

}  // namespace plait::container::netcdf
