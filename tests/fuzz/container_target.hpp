/// The fuzz targets for the bytes of files: formats with several arrays, and parts of Zarr folders and HDF5 files.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `npz`, `safetensors` and `netcdf`: each array that a file lists is opened, by the first rank and by another one;
/// `zarr`: metadata; `zarr-chunk` and `hdf5-chunk`: an encoded chunk, after a byte that states its codecs;
/// `zarr-shard`: the index of a shard; `hdf5-description`: the description of a dataset that another rank has sent.
std::vector<MessageKind> file_kinds();

}  // namespace plait::fuzz
