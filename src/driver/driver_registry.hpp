/// The list of all drivers.
#pragma once

#include <span>
#include <string_view>

#include "driver/driver.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver {

/// Returns all drivers; those without a prefix come last.
std::span<const Driver* const> drivers();
/// Returns the driver of a name: by its prefix; by its scheme, if it is a URL; otherwise that of ordinary files.
const Driver& find_driver(std::string_view name);
/// Returns a name without its prefix, but with its options; a plain name is returned unchanged.
std::string_view without_prefix(std::string_view name);

}  // namespace plait::driver
