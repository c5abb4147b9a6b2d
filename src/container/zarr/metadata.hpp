/// The metadata of an array in `zarr.json` (version 3) and `.zarray` (version 2) (Zarr specifications, core 3.0 and
/// v2).
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

/// The shards of an array: objects that hold many chunks each, in any order, and an index of their locations. The index
/// has the offset and the length of each chunk as two little-endian numbers of 8 bytes (codec sharding_indexed, version
/// 1.0).
struct Shards {
  Extents shape;       ///< shape of a shard in elements
  Extents chunks;      ///< chunks of a shard along each dimension
  codec::Chain index;  ///< codecs of the index
  bool index_at_end = true;
  std::int64_t count = 1;  ///< number of chunks in a shard
  /// Size of the index in the object.
  std::int64_t index_bytes = 0;
};

struct Metadata {
  ArrayType type;
  Extents chunk;        ///< shape with as many dimensions as the array, each 1 or more
  std::string element;  ///< name of the element type in the format
  codec::Chain codecs;  ///< codecs of a chunk
  /// Order in which stored chunks have the dimensions of the array, the slowest first; empty if it is that of `type`.
  std::vector<std::size_t> stored_order;
  std::optional<Shards> shards;
  std::string prefix;           ///< prefix of the names of chunk objects: `c/`, or empty
  char separator = '/';         ///< separator of the numbers in these names
  std::vector<std::byte> fill;  ///< value of an element that no object holds; zeros for texts
  std::string fill_text;        ///< text of an element that no object holds
  /// Name of each dimension, empty for a dimension without one; no entries if no dimension has a name.
  std::vector<std::string> dimension_names;

  std::int64_t chunk_bytes = 0;  ///< size of a chunk without codecs
  /// Number of chunks along each dimension, or of shards if there are any.
  Extents grid;

  /// Returns true if chunks have no codecs, so that a part of a chunk can be read and written in place.
  bool has_no_codecs() const { return codecs.empty() && stored_order.empty() && !type.has_texts(); }
  /// Returns the shape of an object: that of a shard or, without shards, of a chunk.
  const Extents& object_shape() const { return shards ? shards->shape : chunk; }
  /// Checks that the codecs are available.  errors  kArgument: the library of a codec is not installed.
  void check_codecs(const std::string& file) const;
  /// Describes how chunks are stored.
  std::string describe() const;
};

/// Sets the shape, and the grid that follows from it. Returns false, without a change, if the array would have more
/// than 2^63 - 1 bytes.
[[nodiscard]] bool set_shape(Metadata& metadata, const Extents& shape);

/// Maximum size of a metadata file that is read.
inline constexpr std::int64_t kMaxMetadata = std::int64_t{16} << 20;
/// Maximum size of a chunk with codecs, which is decompressed as a whole.
inline constexpr std::int64_t kMaxCompressed = std::int64_t{2} << 30;

/// Returns true if a metadata file describes a group.
/// errors  kSystem: it is not JSON.  kArgument: the group has a field that a reader must understand.
bool is_group(std::string_view text, const std::string& file);

/// Parses the metadata of an array.
/// errors  kSystem: the text is not JSON, or contradicts itself. kArgument: codecs, types or chunks are not supported,
///         or there is a field that a reader must understand.
Metadata parse_metadata(std::string_view text, const std::string& file);
/// Parses into `metadata`, which retains the fields that were read before an error: shape, dimension names, type,
/// chunks.
void parse_metadata(std::string_view text, const std::string& file, Metadata& metadata);

}  // namespace plait::container::zarr
