/// Zarr, versions 2 and 3: arrays in regular chunks, each a file or a part of one, in folders and groups of them;
/// written in version 3.
#pragma once

#include "container/format.hpp"

namespace plait::container::zarr {

const Format& format();

}  // namespace plait::container::zarr
