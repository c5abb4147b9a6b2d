/// The formats HDF5 and netCDF-4, as Plait's registry of formats knows them.
#pragma once

#include <span>

#include "container/format.hpp"

namespace plait::container::hdf5 {

/// Returns one format for each suffix: `.h5`, `.hdf5`, `.he5`, `.nc4`, and `.nc` of netCDF-4.
std::span<const Format* const> formats();

/// Returns true if the bytes are the beginning of an HDF5 file: the signature is at byte 0 or, after a user block, at
/// byte 512, 1024, 2048 and so on.
bool is_hdf5(std::span<const std::byte> header);
/// Returns true if a store contains an HDF5 file after a user block that is longer than kHeaderBytes.  errors  kSystem.
bool has_signature_after_header(store::Store& store);

}  // namespace plait::container::hdf5
