/// Interleaves elements of several sources.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::copy {

/// Puts `count` elements of each source into the target, one of each in turn; neither side has gaps.  Returns false,
/// doing nothing, where there is no kernel for elements of this size: there are for 4, 8 and 16 bytes, and of two
/// sources also for 1 and 2.
/// pre      The target overlaps no source.
/// threads  Any; no shared state.
bool zip(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes, std::int64_t count);

}  // namespace plait::copy
