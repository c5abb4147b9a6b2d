/// All kinds of stores that there are.
#pragma once

#include <span>
#include <string_view>

#include "driver/driver.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver {

/// Drivers without a prefix come last.
std::span<const Driver* const> drivers();
/// Finds the driver of a name: by its prefix; by its scheme, if it is a URL; else that of ordinary files.
const Driver& driver_of(std::string_view name);
/// What stands behind the prefix of a name, options included; a plain name as it is.
std::string_view without_prefix(std::string_view name);

}  // namespace plait::driver
