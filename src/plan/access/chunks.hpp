/// Arrays whose elements lie chunk by chunk, and what a section has of each chunk.
#pragma once

#include <cstdint>

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
/// The chunks that have something of the section are numbered in file order.  The section's positions count its
/// elements in file order as well: those of chunk 0, those of chunk 1, and so on.
/// cost    O(dimensions) in time and memory, whatever the number of chunks.
class Chunks {
 public:
  /// errors  kArgument: a chunk of another number of dimensions, or of none in one.
  Chunks(const Extents& array, const Extents& chunk, Slices slices);

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

  /// Chunks in a line along a dimension that have something of the section, the number of the first one, or behind it,
  /// that has one of its indices from `index` on, and the first index that one has.
  std::int64_t rows(std::size_t d) const { return rows_[d]; }
  std::int64_t row_of(std::size_t d, std::int64_t index) const;
  std::int64_t row_begin(std::size_t d, std::int64_t row) const;

 private:
  Slices slices_;
  Extents chunk_;
  Extents strides_;      // file distance of neighbours in a chunk
  Extents row_strides_;  // file distance of neighbouring chunks
  Extents rows_;
  std::int64_t room_ = 1;
  std::int64_t count_ = 1;
  std::int64_t largest_ = 1;
  std::int64_t elements_ = 1;
};

/// Elements that an array has room for where it lies in chunks; `chunk` empty: it does not.
/// errors  kArgument: as for Chunks, and more than 2^63 - 1.
std::int64_t elements_with_room(const Extents& array, const Extents& chunk);

}  // namespace plait::plan
