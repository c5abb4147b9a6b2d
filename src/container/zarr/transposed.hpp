/// Chunks whose dimensions have another order than those of the array (codec transpose, version 1.0).
#pragma once

#include <cstddef>
#include <span>

#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

/// The order of dimensions that the copy has: that of the array, or the stored one.
enum class TransposeDirection : std::uint8_t { kArray, kFile };

/// Copies a chunk from one order of dimensions to the other.
void transpose(const Metadata& metadata, TransposeDirection direction, std::span<const std::byte> from,
               std::span<std::byte> to);

}  // namespace plait::container::zarr
