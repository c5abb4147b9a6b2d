/// Adding a variable to a header of netCDF's classic formats.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

/// Checks that a variable can be added to a file: each of its dimensions is new, or has the length that the header
/// states.
/// errors  kArgument: a name, a type or a dimension is impossible, or the variable has the record dimension.
void check_variable(const Header& header, const Member& member, const std::string& name_in_errors);

/// Returns a longer header that includes the variable. before: the bytes of the present header.
/// errors  kArgument: the format does not support an attribute.
std::vector<std::byte> add_to_header(const Header& header, std::span<const std::byte> before, const Member& member,
                                     const std::string& name_in_errors);

}  // namespace plait::container::netcdf
