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
  // Those of a shard are in C order whatever that of the array is.
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
    // The fastest dimension first.
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
