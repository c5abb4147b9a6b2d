/// The names of the objects that hold the chunks of an array.
#pragma once

#include <cstdint>
#include <string>

#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

struct ChunkLocation {
  std::int64_t object = 0;  ///< number of the object that holds the chunk: the number of the chunk, or of its shard
  std::int64_t number_in_shard = 0;  ///< number of the chunk in its shard
};

/// Returns the index (one number for each dimension) of a unit of a grid. Units are numbered in the given order.
Extents to_index(std::int64_t number, const Extents& grid, Order order);
/// Returns the number of a unit of a grid, as the inverse of to_index().
std::int64_t to_number(const Extents& index, const Extents& grid, Order order);

/// Computes the names of objects.
/// Example: in an array of 6 x 8 elements with chunks of 2 x 4, chunk 3 is in the object `c/1/1`.
class ChunkNames {
 public:
  /// metadata: it must outlive this object.
  explicit ChunkNames(const Metadata& metadata) : metadata_(metadata) {}

  /// Returns the location of a chunk. number: its number in the order of plan/section/chunks.hpp.
  ChunkLocation location(std::int64_t number) const;
  /// Returns the name of an object, such as `c/1/1`.
  std::string object_name(std::int64_t object) const;
  std::string object_name(const ChunkLocation& location) const { return object_name(location.object); }

 private:
  const Metadata& metadata_;
};

}  // namespace plait::container::zarr
