/// The header of safetensors files: 8 little-endian bytes with its length, then JSON with the type, the shape, and the
/// begin and end of each array, relative to the end of the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "container/format.hpp"

namespace plait::container::safetensors {

/// Size of the length before the JSON.
inline constexpr std::int64_t kLengthBytes = 8;
/// Maximum length of a header in this format.
inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

struct Header {
  std::vector<Member> members;  ///< in the order of the file
  ArrayAttributes texts;        ///< the texts of `__metadata__`
};

/// Parses the JSON of a file of `file_bytes` bytes. The last array must end at the end of the file.
/// file: the name of the file in errors.
/// errors  kSystem: the text is not JSON, or not JSON of this format; the message has the position. Arrays overlap,
///         leave gaps or end outside the file.
/// cost  Proportional to the length of the header, in time and in memory.
Header parse_header(std::string_view json, std::int64_t file_bytes, const std::string& file);

/// Returns a new header, whose size is a multiple of 64 bytes, and sets the offset of each array. Arrays with large
/// elements come first, so that each array begins at a multiple of the size of its elements. texts: the texts of
/// `__metadata__`; each attribute has one text.
/// errors  kArgument: the format does not support a type or order; there are too many arrays.
std::vector<std::byte> make_header(std::vector<Member>& members, const ArrayAttributes& texts, const std::string& path);

}  // namespace plait::container::safetensors
