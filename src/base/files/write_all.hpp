/// Writes to files completely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::base {

/// Writes all bytes at an offset, with as many calls as necessary. Returns an errno, 0 for success. ENOSPC also if a
/// call wrote nothing and reported no error.
int write_all(int file, std::span<const std::byte> bytes, std::int64_t offset) noexcept;

}  // namespace plait::base
