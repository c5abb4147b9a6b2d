/// Arrays whose elements lie chunk by chunk, and what a section has of each chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.hpp"
#include "plait/layout.hpp"

namespace plait::plan {

/// A slice of each dimension of an array, slowest first: `count` elements from `start` on, every `step`-th.
struct Slices {
  Extents start;
  Extents step;
  Extents count;
};

/// What a section has of one chunk: a box.
struct ChunkPart {
  Extents lo;                 ///< its first element in the section
  Extents shape;              ///< elements, 1 or more in each dimension
  Extents steps;              ///< file distance of neighbours in each dimension, in elements
  std::int64_t file = 0;      ///< file position of its first element, in elements
  std::int64_t position = 0;  ///< of its first element among those of the section
  std::int64_t elements = 1;
};

/// An array is cut into boxes of one shape, slowest dimension first, and so lie the boxes in the file and the elements
/// in each box.  Every chunk takes the room of a whole one, so the positions of the file that chunks at the upper edges
/// have outside the array hold nothing.
///
/// Chunks may lie in shards, which are larger boxes of whole chunks: shards lie in the file as chunks would, and the
/// chunks of each in the same way inside of it.
///
/// The chunks that have something of the section are numbered in file order.  The section's positions count its
/// elements in file order as well: those of chunk 0, those of chunk 1, and so on.
/// cost    O(dimensions) in time and memory, whatever the number of chunks.
class Chunks {
 public:
  /// shard: empty: there are none.
  /// errors  kArgument: a chunk of another number of dimensions, or of none in one; a shard that is not of whole chunks.
  Chunks(const Extents& array, const Extents& chunk, Slices slices, const Extents& shard = {});

  /// How many of them have something of the section.
  std::int64_t count() const { return count_; }
  /// The section has at most so many elements of a chunk.
  std::int64_t largest() const { return largest_; }
  /// Elements that a chunk has room for.
  std::int64_t room() const { return room_; }
  /// The section has of a chunk inside of the array so many elements that are contiguous in the file.
  std::int64_t contiguous_elements() const;

  ChunkPart part(std::int64_t number) const;
  /// The position of a chunk's first element; that behind the last one for count().
  std::int64_t position_of(std::int64_t number) const;
  /// The number of the chunk that has a position; count() behind the last one.
  std::int64_t number_at(std::int64_t position) const;
  /// The file position of an element of the section.
  std::int64_t file_position(const Extents& index) const;

  /// Whether they lie in shards; the number of shards that have something of the section, the first chunk of one,
  /// count() behind the last one, and the shard of a chunk.
  bool in_shards() const { return in_shards_; }
  std::int64_t shards() const { return shards_; }
  std::int64_t first_in_shard(std::int64_t shard) const;
  std::int64_t shard_of(std::int64_t number) const;

  /// The number of the first chunk from `number` on in which indices of all dimensions are wanted, or count().
  /// next: of a dimension and an index, the first one from there on that is wanted, or at least the section's count.
  std::int64_t next_wanted(std::int64_t number, base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next) const;

 private:
  /// Chunks or shards in a line along a dimension that have something of the section: the number of the one that has an
  /// index, and the first index that one has.
  std::int64_t row_of(const Extents& box, std::size_t d, std::int64_t index) const;
  std::int64_t row_begin(const Extents& box, std::size_t d, std::int64_t row) const;
  std::int64_t rows_of(const Extents& box, std::size_t d) const;

  /// A range of chunk rows in each dimension: those of a shard.
  struct Rows {
    Extents lo;
    Extents count;
  };
  /// Of the shard that has the chunk row in each dimension.
  Rows rows_of_shard(const Extents& shard_rows) const;
  /// The rows of a chunk.
  Extents rows_at(std::int64_t number, Rows& shard) const;
  std::int64_t number_of(const Extents& rows) const;
  Extents shard_rows_of(const Extents& rows) const;

  Slices slices_;
  Extents chunk_;
  Extents shard_;          // of the whole array where there are none
  Extents strides_;        // file distance of neighbours in a chunk
  Extents chunk_strides_;  // file distance of neighbouring chunks of a shard
  Extents shard_strides_;
  Extents rows_;
  Extents shard_rows_;
  std::int64_t room_ = 1;
  std::int64_t count_ = 1;
  std::int64_t largest_ = 1;
  std::int64_t elements_ = 1;
  std::int64_t shards_ = 1;
  bool in_shards_ = false;
};

/// Elements that an array has room for where it lies in chunks, and these in shards; empty: it does not, they do not.
/// errors  kArgument: as for Chunks, and more than 2^63 - 1.
std::int64_t elements_with_room(const Extents& array, const Extents& chunk, const Extents& shard = {});

/// The first position from `position` on of a dense array of shape `shape`, slowest dimension first, whose index in each
/// dimension is one of those that next(d, index) finds: the first of them from `index` on, or the extent.  The number of
/// elements: there is none.
std::int64_t next_of_product(const Extents& shape, std::int64_t position,
                             base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next);

}  // namespace plait::plan
