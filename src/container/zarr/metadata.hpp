/// What `zarr.json` (version 3) and `.zarray` (version 2) say of an array (Zarr specifications, core 3.0 and v2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plait/file.hpp"

namespace plait::container::zarr {

/// How the bytes of a chunk are packed.
enum class Packing : std::uint8_t { kNone, kGzip, kZlib, kZstd };
std::string_view words(Packing packing);

struct Metadata {
  ArrayType type;
  Extents chunk;        ///< as many dimensions as the array, each 1 or more
  std::string element;  ///< what the format calls the type of the elements
  Packing packing = Packing::kNone;
  std::string prefix;           ///< of the names of chunks: `c/`, or nothing
  char separator = '/';         ///< between the numbers in them
  std::vector<std::byte> fill;  ///< an element that no file holds

  std::int64_t chunk_bytes = 0;
  /// Chunks along each dimension.
  Extents grid;
};

/// The largest file of metadata that is read.
inline constexpr std::int64_t kMostMetadata = std::int64_t{16} << 20;
/// A chunk that is packed is unpacked whole.
inline constexpr std::int64_t kMostPacked = std::int64_t{2} << 30;

/// Whether a file of metadata is that of a group.  errors  kSystem: it is not JSON.
bool is_group(std::string_view text, const std::string& file);

/// errors  kSystem: not JSON, or it contradicts itself.  kArgument: codecs, types and chunks that are not supported, by
///         name.
Metadata parse_metadata(std::string_view text, const std::string& file);

}  // namespace plait::container::zarr
