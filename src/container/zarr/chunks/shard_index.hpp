/// Where the chunks of a shard are in its object.
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

/// Of a chunk; without one: it has the fill value.
struct ShardEntry {
  std::uint64_t offset = kNone;
  std::uint64_t bytes = kNone;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  bool there() const { return offset != kNone; }
};

/// The index that a file of `file_bytes` has in `packed`, its last or first index_bytes.
/// errors  kSystem: damaged; a chunk that does not lie in the file.
std::vector<ShardEntry> parse_index(const Shards& shards, std::span<const std::byte> packed, std::int64_t file_bytes,
                                    const std::string& file);

/// The bytes of an index.
std::vector<std::byte> index_bytes(const Shards& shards, std::span<const ShardEntry> entries);

struct ShardIndex {
  std::vector<ShardEntry> entries;
  std::int64_t bytes = 0;          ///< of the shard
  store::ObjectIdentity identity;  ///< of the shard
};

/// Reads the index of a shard; nothing if there is no such object.  errors  As parse_index(); kSystem: it cannot be read.
std::optional<ShardIndex> read_index(const Shards& shards, store::ObjectStore& objects, const std::string& object);

}  // namespace plait::container::zarr
