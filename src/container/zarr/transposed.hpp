/// Chunks whose dimensions lie in another order than those of the array (codec transpose, version 1.0).
#pragma once

#include <cstddef>
#include <span>

#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

enum class Towards : std::uint8_t { kArray, kFile };

/// Copies a chunk from the one order into the other.
void transpose(const Metadata& metadata, Towards towards, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace plait::container::zarr
