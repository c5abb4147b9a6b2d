/// Zarr, versions 2 and 3: arrays in regular chunks, each an object or a part of one, in hierarchies of groups. New
/// arrays have version 3.
#pragma once

#include "container/format.hpp"

namespace plait::container::zarr {

const Format& format();

}  // namespace plait::container::zarr
