/// The header of safetensors files: 8 bytes with its length, little-endian, then JSON that says of each array its type,
/// its shape, and where it begins and ends behind the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "container/format.hpp"

namespace plait::container::safetensors {

/// The length before the JSON.
inline constexpr std::int64_t kLengthBytes = 8;
/// The longest header that the format permits.
inline constexpr std::int64_t kMostHeaderBytes = 100'000'000;

struct Header {
  std::vector<Member> members;  ///< in the order of the file
  ArrayAttributes texts;        ///< what stands under `__metadata__`
};

/// Reads the JSON of a file of `file_bytes`, which ends where its last array ends.
/// errors  kSystem: no JSON, or not that of the format, and at which byte; arrays that overlap, leave gaps or end
///         outside of the file.
/// cost    In the order of the header's length, in time and in memory.
Header parse_header(std::string_view json, std::int64_t file_bytes, const std::string& file);

/// The bytes before the arrays, a multiple of 64, and where each array lies.  Arrays with large elements come
/// first, so that each one begins at a multiple of the size of its elements.  texts: for `__metadata__`, each of one text.
/// errors  kArgument: types and orders that the format has not; too many arrays.
std::vector<std::byte> make_header(std::vector<Member>& members, const ArrayAttributes& texts, const std::string& path);

}  // namespace plait::container::safetensors
