/// Removes memory from the caches of all cores.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::copy {

/// Returns true if this processor and this build support drop_cache_lines().
bool can_drop_cache_lines();

/// Writes modified cache lines of these bytes back to memory and removes them from the caches of all cores, including
/// the rest of the first and last line. The content of the memory is unchanged.
/// cost  About 0.05 ns a byte if can_drop_cache_lines(); otherwise the call does nothing.
void drop_cache_lines(const std::byte* memory, std::int64_t bytes);

}  // namespace plait::copy
