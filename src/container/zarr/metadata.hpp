/// What `zarr.json` (version 3) and `.zarray` (version 2) say of an array (Zarr specifications, core 3.0 and v2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "plait/file_options.hpp"

namespace plait::container::zarr {

/// Files that hold many chunks each, behind each other in any order, and where each of them lies: the index, pairs of
/// offset and length of 8 bytes, least first (codec sharding_indexed, version 1.0).
struct Shards {
  Extents shape;       ///< of a shard, in elements
  Extents chunks;      ///< in a shard, along each dimension
  codec::Chain index;  ///< how the index is packed
  bool index_at_end = true;
  std::int64_t count = 1;  ///< chunks in a shard
  /// Bytes of the index in the file.
  std::int64_t index_bytes = 0;
};

struct Metadata {
  ArrayType type;
  Extents chunk;         ///< as many dimensions as the array, each 1 or more
  std::string element;   ///< what the format calls the type of the elements
  codec::Chain packing;  ///< of a chunk
  /// In which order chunks have the array's dimensions, slowest first; empty: in that of `type`.
  std::vector<std::size_t> transposed;
  std::optional<Shards> shards;
  std::string prefix;           ///< of the names of chunks: `c/`, or nothing
  char separator = '/';         ///< between the numbers in them
  std::vector<std::byte> fill;  ///< an element that no file holds
  /// One for each dimension, empty where it has none; or no names at all.
  std::vector<std::string> dimension_names;

  std::int64_t chunk_bytes = 0;
  /// Chunks along each dimension, or shards where there are any.
  Extents grid;

  /// Whether the bytes of a chunk lie in a file as they are, so that a part of them can be read and written.
  bool plain() const { return packing.empty() && transposed.empty(); }
  /// errors  kArgument: the library of a codec is not installed.
  void check_codecs(const std::string& file) const;
  /// Describes how chunks are stored.
  std::string words() const;
};

/// The largest file of metadata that is read.
inline constexpr std::int64_t kMostMetadata = std::int64_t{16} << 20;
/// A chunk that is packed is unpacked whole.
inline constexpr std::int64_t kMostPacked = std::int64_t{2} << 30;

/// True if a metadata file describes a group.
/// errors  kSystem: it is not JSON.  kArgument: a group with a field that a reader must understand.
bool is_group(std::string_view text, const std::string& file);

/// errors  kSystem: not JSON, or it contradicts itself.  kArgument: codecs, types and chunks that are not supported, by
///         name; a field that a reader must understand.
Metadata parse_metadata(std::string_view text, const std::string& file);
/// Reads into `found`, which keeps the fields that were read before an error: shape, dimension names, type, chunks.
void parse_metadata(std::string_view text, const std::string& file, Metadata& found);

}  // namespace plait::container::zarr
