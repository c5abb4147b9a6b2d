/// Chunks as their files have them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

/// Fills `chunk` with what `packed` holds.  file: of the chunk, for errors.
/// errors  kSystem: damaged, or of another size.  It never makes more than fits `chunk`.
void unpack(Packing packing, std::span<const std::byte> packed, std::span<std::byte> chunk, const std::string& file);

}  // namespace plait::container::zarr
