/// Stretches of files that are read and written at byte offsets.
#pragma once

#include <cstdint>

namespace plait::distant {

/// errors  kArgument: no stretch of a file can begin there or be so long, or there is no memory for its bytes.
void check_stretch(std::int64_t offset, std::int64_t bytes, const void* buffer);

}  // namespace plait::distant
