/// Writing to files as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::base {

/// Writes all bytes at an offset, by as many calls as the system needs.  Returns an errno, 0 on success.  ENOSPC: a call
/// has written nothing.
int write_all(int file, std::span<const std::byte> bytes, std::int64_t offset) noexcept;

}  // namespace plait::base
