/// Zarr, versions 2 and 3: arrays in regular chunks, each a file, in folders and groups of them; only read.
#pragma once

#include "container/container.hpp"

namespace plait::container::zarr {

const Container& container();

}  // namespace plait::container::zarr
