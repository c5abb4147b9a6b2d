/// Little-endian numbers in the metadata of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::container::hdf5 {

/// Returns the number in the `count` bytes from `at` on; `count` is at most 8. They must be within `bytes`.
inline std::uint64_t number_in(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

/// Appends a number as `bytes` bytes.
inline void append_number(std::vector<std::byte>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

}  // namespace plait::container::hdf5
