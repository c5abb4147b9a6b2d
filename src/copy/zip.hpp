/// Interleaves elements of several sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/strided_copy.hpp"

namespace plait::copy {

/// Puts `count` elements of each source into the target, one of each in turn; neither side has gaps.  Returns false,
/// doing nothing, where there is no kernel for elements of this size: there are for 4, 8 and 16 bytes, and of two
/// sources also for 1 and 2; for others see zips_lines.
/// landing  kCaches, or kUnsettled where zips_lines says so.
/// pre      The target overlaps no source; where lines leave past the caches, it begins at a multiple of 64.
/// threads  Any; no shared state.
bool zip(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes, std::int64_t count,
         Landing landing = Landing::kCaches);

/// Whether a zip can leave past the caches as whole lines of 64 bytes: elements of whole lines, or two sources of 8
/// bytes.
bool zips_lines(int ways, std::int64_t element_bytes, std::int64_t count);

}  // namespace plait::copy
