/// Zarr, versions 2 and 3: arrays in regular chunks, each an object or a part of one, in hierarchies of groups.
#pragma once

#include <span>

#include "container/format.hpp"

namespace plait::container::zarr {

/// Returns the formats `zarr` and `zarr2`, whose new arrays have the versions 3 and 2.
std::span<const Format* const> formats();

}  // namespace plait::container::zarr
