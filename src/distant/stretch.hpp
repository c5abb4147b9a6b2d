/// Checks the byte range ("stretch") of an access to a file.
#pragma once

#include <cstdint>

namespace plait::distant {

/// errors  kArgument: a file cannot have a byte range of that offset and length, or the buffer is missing.
void check_stretch(std::int64_t offset, std::int64_t bytes, const void* buffer);

}  // namespace plait::distant
