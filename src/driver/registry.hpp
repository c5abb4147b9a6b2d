/// All kinds of stores that there are.
#pragma once

#include <span>
#include <string_view>

#include "driver/driver.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver {

/// In the order in which names are compared with their prefixes; the last one has none.
std::span<const Driver* const> drivers();
/// Of a name.
const Driver& driver_of(std::string_view name);
/// What stands behind the prefix of a name, options included; a plain name as it is.
std::string_view without_prefix(std::string_view name);

}  // namespace plait::driver
