// Computing the object of a chunk from its number.
//
// Chunks are numbered shard by shard in the order of the array; in a shard they are numbered in the same order. The
// index of a shard, however, always has order C, so that arrays of order F convert the number.
// Example: shards of 2x3 chunks in an array of order F. Chunk 8 is number 2 of shard 1. In order F number 2 is chunk
// (0, 1) of the shard, which is number 0 * 3 + 1 = 1 in order C.

#include "container/zarr/chunks/chunk_names.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace plait::container::zarr {

Extents to_index(std::int64_t number, const Extents& grid, Order order) {
  const std::size_t count = grid.size();
  Extents index(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Begin with the fastest dimension.
    const std::size_t d = order == Order::kC ? count - 1 - i : i;
    index[d] = number % grid[d];
    number /= grid[d];
  }
  return index;
}

std::int64_t to_number(const Extents& index, const Extents& grid, Order order) {
  const std::size_t count = grid.size();
  std::int64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t d = order == Order::kC ? i : count - 1 - i;
    number = number * grid[d] + index[d];
  }
  return number;
}

ChunkLocation ChunkNames::location(std::int64_t number) const {
  if (!metadata_.shards) return {number, 0};
  const Shards& shards = *metadata_.shards;
  ChunkLocation location{number / shards.count, number % shards.count};
  if (metadata_.type.order == Order::kC) return location;
  // Chunks of a shard have order C regardless of the order of the array.
  location.number_in_shard =
      to_number(to_index(location.number_in_shard, shards.chunks, metadata_.type.order), shards.chunks, Order::kC);
  return location;
}

std::string ChunkNames::object_name(std::int64_t object) const {
  const Extents index = to_index(object, metadata_.grid, metadata_.type.order);
  std::string name = metadata_.prefix;
  if (index.empty()) return name.empty() ? "0" : name.substr(0, name.size() - 1);
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (d > 0) name += metadata_.separator;
    base::append(name, index[d]);
  }
  return name;
}

}  // namespace plait::container::zarr
