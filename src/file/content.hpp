/// What array files hold: what a caller says, what a header says, and whether the two and the size fit together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plait/file.hpp"
#include "store/store.hpp"

namespace plait::file {

/// An array and where it begins.
struct Content {
  ArrayType type;
  std::int64_t data_offset = 0;
};

/// How a file says what it holds.
enum class Header : std::uint8_t {
  kNone,      ///< not at all: raw elements
  kNpy,       ///< as .npy files do
  kIfNotRaw,  ///< as .npy files do, unless it was written without a dtype, or for several arrays
};
/// That of a name.
Header header_of(const std::string& path);

std::int64_t array_bytes(const ArrayType& type);

/// What a file that is there holds.  `described`: its name stands for a text that describes other files.
/// errors  kArgument: `options` lacks what the file does not tell, or says otherwise than it.  kSystem: a short or
///         damaged file.
Content read_content(store::Store& store, const std::string& path, const FileOptions& options, bool described);

/// What a new file will hold, and the bytes in front of the array.  errors  kArgument: options that are missing or make
/// no sense.
struct NewContent : Content {
  std::vector<std::byte> head;
  /// errors  kArgument: more than 2^63 - 1.
  std::int64_t bytes() const;
};
NewContent new_content(const std::string& path, const FileOptions& options);

}  // namespace plait::file
