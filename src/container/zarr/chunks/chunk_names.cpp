// Computing the object of a chunk from its number.
//
// Chunks are numbered shard by shard in the order of the array; in a shard they are numbered in the same order. The
// index of a shard, however, always has order C, so that arrays of order F convert the number.
// Example: shards of 2x3 chunks in an array of order F. Chunk 8 is number 2 of shard 1. In order F number 2 is chunk
// (0, 1) of the shard, which is number 0 * 3 + 1 = 1 in order C.

#include "container/zarr/chunks/chunk_names.hpp"

#include <cstddef>
#include <vector>

#include "base/text.hpp"

namespace plait::container::zarr {

ChunkLocation ChunkNames::location(std::int64_t number) const {
  if (!metadata_.shards) return {number, 0};
  const Shards& shards = *metadata_.shards;
  ChunkLocation location{number / shards.count, number % shards.count};
  if (metadata_.type.order == Order::kC) return location;
  // Chunks of a shard have order C regardless of the order of the array.
  std::int64_t rest = location.inside;
  Extents index(shards.chunks.size());
  for (std::size_t d = 0; d < index.size(); ++d) {
    index[d] = rest % shards.chunks[d];
    rest /= shards.chunks[d];
  }
  location.inside = 0;
  for (std::size_t d = 0; d < index.size(); ++d) location.inside = location.inside * shards.chunks[d] + index[d];
  return location;
}

std::string ChunkNames::object(std::int64_t object) const {
  const std::size_t count = metadata_.grid.size();
  std::vector<std::int64_t> index(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Begin with the fastest dimension.
    const std::size_t d = metadata_.type.order == Order::kC ? count - 1 - i : i;
    index[d] = object % metadata_.grid[d];
    object /= metadata_.grid[d];
  }
  std::string name = metadata_.prefix;
  if (count == 0) return name.empty() ? "0" : name.substr(0, name.size() - 1);
  for (std::size_t d = 0; d < count; ++d) {
    if (d > 0) name += metadata_.separator;
    base::append(name, index[d]);
  }
  return name;
}

}  // namespace plait::container::zarr
