/// The fuzz targets for files with several arrays and for Zarr folders.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `npz`, `safetensors` and `netcdf`: each array that a file lists is opened, as by the first rank and by another one;
/// `zarr`: metadata; `zarr-chunk`: a chunk that is packed, its first byte saying how; `zarr-shard`: the index of a
/// shard.
std::vector<MessageKind> received_in_files();

}  // namespace plait::fuzz
