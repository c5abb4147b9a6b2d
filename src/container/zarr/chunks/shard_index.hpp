/// The index of a shard: the locations of its chunks in its object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/zarr/metadata.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// The location of a chunk. If a chunk has none, all of its elements have the fill value.
struct ShardEntry {
  std::uint64_t offset = kNone;
  std::uint64_t bytes = kNone;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  bool exists() const { return offset != kNone; }
};

/// Decodes the index of an object of `file_bytes`; `encoded` are the last or first index_bytes of the object.
/// errors  kSystem: the index is damaged, or a chunk is outside the object.
std::vector<ShardEntry> parse_index(const Shards& shards, std::span<const std::byte> encoded, std::int64_t file_bytes,
                                    const std::string& file);

/// Encodes an index.
std::vector<std::byte> encode_index(const Shards& shards, std::span<const ShardEntry> entries);

struct ShardIndex {
  std::vector<ShardEntry> entries;
  std::int64_t bytes = 0;          ///< size of the shard
  store::ObjectIdentity identity;  ///< identity of the shard
};

/// Reads the index of a shard; nothing if there is no such object.
/// errors  Those of parse_index(). kSystem: the object cannot be read.
std::optional<ShardIndex> read_index(const Shards& shards, store::ObjectStore& objects, const std::string& object);

}  // namespace plait::container::zarr
