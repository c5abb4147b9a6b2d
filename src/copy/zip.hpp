/// Interleaves elements of several sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/strided_copy.hpp"

namespace plait::copy {

/// Writes `count` elements of each of `source_count` sources into the target, alternating between the sources; neither
/// side has gaps. Example: sources a0 a1 and b0 b1 make the target a0 b0 a1 b1.
/// Returns false and does nothing if there is no kernel for elements of this size. Kernels exist for 4, 8 and 16 bytes,
/// for two sources also for 1 and 2 bytes, and with kMemoryUnfenced for whole lines of 64 bytes.
/// destination  kCaches, or kMemoryUnfenced if zips_lines() is true.
/// pre      The target overlaps no source. For kMemoryUnfenced it begins at a multiple of 64.
/// threads  Any; no shared state.
bool zip(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t element_bytes,
         std::int64_t count, Destination destination = Destination::kCaches);

/// Returns true if a zip can write whole lines of 64 bytes by non-temporal stores: elements of whole lines, or two
/// sources of 8 bytes.
bool zips_lines(int source_count, std::int64_t element_bytes, std::int64_t count);

}  // namespace plait::copy
