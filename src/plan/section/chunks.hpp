/// Arrays that are stored chunk by chunk, and the part of each chunk that is in a section.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.hpp"
#include "plait/layout.hpp"

namespace plait::plan {

/// A slice of each dimension of an array, slowest first: `count` elements from `start` on, `stride` indices apart.
struct Slices {
  Extents start;
  Extents stride;
  Extents count;
};

/// The part of a chunk that is in a section: a box.
struct ChunkPart {
  Extents lo;                 ///< index of its first element in the section
  Extents shape;              ///< elements, 1 or more in each dimension
  Extents strides;            ///< file distance of neighbours in each dimension, in elements
  std::int64_t file = 0;      ///< file position of its first element, in elements
  std::int64_t position = 0;  ///< position of its first element in the section
  std::int64_t elements = 1;
};

/// The chunks of an array that have elements of a section.  Chunks are boxes of one shape.  The file stores them one
/// after another, slowest dimension first, and the elements of each chunk in the same order.  Every chunk takes as many
/// elements of the file as a whole one; at the upper edges of the array some of them are unused.
///
/// Chunks may be stored in shards, which are larger boxes of whole chunks.  The file stores the shards in the order in
/// which it would store chunks, and each shard has its chunks in the same order.
///
/// The chunks that have elements of the section are numbered in file order.  The section's positions count its elements
/// in file order as well: those of chunk 0, those of chunk 1, and so on.
/// cost    O(dimensions) in time and memory, independent of the number of chunks.
class Chunks {
 public:
  /// shard Empty if there are no shards.
  /// errors  kArgument: a chunk with another number of dimensions, or with an empty one; a shard that does not consist
  ///         of whole chunks.
  Chunks(const Extents& array, const Extents& chunk, Slices slices, const Extents& shard = {});

  /// Returns the number of chunks that have elements of the section.
  std::int64_t count() const { return count_; }
  /// Returns the maximum number of elements of the section in one chunk.
  std::int64_t largest() const { return largest_; }
  /// Returns the number of elements of a whole chunk, also if the array does not fill it.
  std::int64_t padded_elements() const { return padded_elements_; }
  /// Returns the length of the section's runs in the file, in elements, in a chunk that no edge of the array cuts.
  std::int64_t contiguous_elements() const;

  /// Returns the part of a chunk that is in the section.
  ChunkPart part(std::int64_t number) const;
  /// Returns the position of a chunk's first element, or the number of elements for count().
  std::int64_t first_position(std::int64_t number) const;
  /// Returns the number of the chunk that contains a position, or count() for the number of elements.
  std::int64_t number_at(std::int64_t position) const;
  /// Returns the file position of an element of the section.
  std::int64_t file_position(const Extents& index) const;

  /// True if chunks are stored in shards.
  bool in_shards() const { return in_shards_; }
  /// Returns the number of shards that have elements of the section.
  std::int64_t shards() const { return shards_; }
  /// Returns the first chunk of a shard, or count() for shards().
  std::int64_t first_in_shard(std::int64_t shard) const;
  /// Returns the shard of a chunk, or shards() for count().
  std::int64_t find_shard(std::int64_t number) const;

  /// Returns the first chunk from `number` on that has wanted indices, such as those that a rank owns, in all
  /// dimensions; count() if there is none.
  /// next Returns the first wanted index of a dimension from an index on, or the section's extent or more.
  std::int64_t next_wanted(std::int64_t number, base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next) const;

 private:
  // Rows of chunks or shards along a dimension, counted from the first one that has elements of the section: the row of
  // an index, the first index of a row, and the number of rows.
  std::int64_t row_at(const Extents& box, std::size_t d, std::int64_t index) const;
  std::int64_t row_begin(const Extents& box, std::size_t d, std::int64_t row) const;
  std::int64_t count_rows(const Extents& box, std::size_t d) const;

  /// The chunk rows of a shard: a range in each dimension.
  struct Rows {
    Extents lo;
    Extents count;
  };
  /// Returns the chunk rows of the shard in these rows of shards.
  Rows shard_chunk_rows(const Extents& shard_rows) const;
  /// Returns the row of a chunk in each dimension, and the chunk rows of its shard.
  Extents rows_at(std::int64_t number, Rows& shard) const;
  std::int64_t chunk_number(const Extents& rows) const;
  Extents to_shard_rows(const Extents& rows) const;

  Slices slices_;
  Extents chunk_;
  Extents shard_;          // the whole array if there are no shards
  Extents strides_;        // file distance of neighbours in a chunk
  Extents chunk_strides_;  // file distance of neighbouring chunks of a shard
  Extents shard_strides_;
  Extents rows_;
  Extents shard_rows_;
  std::int64_t padded_elements_ = 1;
  std::int64_t count_ = 1;
  std::int64_t largest_ = 1;
  std::int64_t elements_ = 1;
  std::int64_t shards_ = 1;
  bool in_shards_ = false;
};

/// Returns the number of elements in the file of an array that is stored in chunks, and these in shards.  Empty extents
/// mean that there are none.  errors  kArgument: as for Chunks, and more than 2^63 - 1.
std::int64_t count_padded_elements(const Extents& array, const Extents& chunk, const Extents& shard = {});

/// Returns the first position from `position` on of a dense array of this shape, slowest dimension first, whose index
/// is wanted in each dimension, or the number of elements.
/// next    Returns the first wanted index of a dimension from an index on, or the extent.
std::int64_t next_in_product(const Extents& shape, std::int64_t position,
                             base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next);

}  // namespace plait::plan
