/// A section of an array in a store: the elements that an access reads or writes, numbered in file order.  File order
/// is the order of the array or, if the array is stored in chunks, chunk by chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/section/chunks.hpp"

namespace plait::plan {

/// A range of a section's positions.
struct PositionRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool empty() const { return begin >= end; }
};

/// A stretch of positions as an N-dimensional box of the section: [lo, hi) in each dimension.  `position` is that of
/// its first element, counted from the beginning of the range that was cut into boxes.
struct Box {
  Extents lo;
  Extents hi;
  std::int64_t position = 0;
  Extents strides{};  ///< positions between neighbours; empty: as in a dense array of the section's shape
};

/// The elements of a region as a dense array: `shape` has all dimensions of the file's array, slowest in the file
/// first, with the extent 1 for a single index.  A *position* of the section counts these elements in file order.
/// Readers and windows are ranges of positions.
struct Section {
  Extents shape;                 ///< elements, slowest first
  std::optional<Chunks> chunks;  ///< if the file's array is stored in chunks; `strides` and `origin` are unused then
  Extents strides;               ///< file distance of neighbours in each dimension, in elements
  std::int64_t origin = 0;       ///< file position of the first element, in elements
  std::int64_t elements = 1;
  std::vector<int>
      layout_dimension;  ///< the layout's dimension for each section dimension, -1 for a single dropped index
  Extents layout_shape;  ///< the shape that a layout of this section has

  /// chunk: Shape of the chunks in which the file stores the array, dimensions as in `file_shape`; empty: none.
  /// shard: Shape of the shards in which the chunks are stored; empty: none.
  /// errors  kArgument: the region, or the chunk, does not fit the array.
  Section(const Extents& file_shape, Order file_order, const Region& region, const Extents& chunk = {},
          const Extents& shard = {});
  /// errors  kArgument: the layout is of another shape than the section.
  void check_layout(const Layout& layout) const;

  /// Returns the length of the section's runs in the file, in elements: the product of the extents of the fastest
  /// dimensions, as long as neighbours are adjacent in the file.  For an array in chunks it is the length in a chunk
  /// that no edge of the array cuts.
  std::int64_t contiguous_elements() const;
  /// True if the whole section is one run in the file.
  bool contiguous() const { return !chunks && contiguous_elements() == elements; }
  /// Returns the file position of an element, in elements.
  std::int64_t file_position(const Extents& index) const;
  /// Returns the positions [begin, end) as boxes, ascending: at most 2N-1 in the file, or in each chunk.
  std::vector<Box> boxes(std::int64_t begin, std::int64_t end) const;
};

/// Cuts the positions [begin, end) of a dense array (slowest dimension first) into at most 2N-1 boxes, ascending.
std::vector<Box> cut_boxes(const Extents& shape, std::int64_t begin, std::int64_t end);

/// A stretch of the file: `elements` elements from file position `file` on.  They are the section's positions from
/// `position` on.
struct FileRun {
  std::int64_t file = 0;
  std::int64_t position = 0;
  std::int64_t elements = 0;
};

/// Returns the length of a box's runs in the file, in elements.
/// strides File distance of neighbours in each dimension, in elements.
std::int64_t contiguous_elements(const Extents& shape, const Extents& strides);

/// A box of elements in the file, with `strides` between neighbours and the first one at the position `origin`.
struct FileBox {
  const Extents& shape;
  const Extents& strides;
  std::int64_t origin;
};

/// Calls `visit(FileRun)` for each stretch of the positions [begin, end) of a box that is contiguous in the file,
/// ascending.
template <typename Visit>
void for_each_run_of_box(const FileBox& box, std::int64_t begin, std::int64_t end, Visit&& visit) {
  const auto& [shape, strides, origin] = box;
  const std::int64_t run = contiguous_elements(shape, strides);
  if (run == 0 || begin >= end) return;
  // There is one run for each combination of the slower dimensions.
  std::size_t slow = shape.size();
  for (std::int64_t product = 1; product < run;) product *= shape[--slow];
  for (std::int64_t position = begin; position < end;) {
    std::int64_t index = position / run;
    std::int64_t file = origin + position % run;
    for (std::size_t d = slow; d-- > 0;) {
      file += index % shape[d] * strides[d];
      index /= shape[d];
    }
    const std::int64_t left = run - position % run;
    const std::int64_t length = left < end - position ? left : end - position;
    visit(FileRun{file, position, length});
    position += length;
  }
}

/// Calls `visit(part, from, to)` for each chunk with positions in [begin, end), ascending.  [from, to) are the chunk's
/// positions in the range, counted from the chunk's first one.
template <typename Visit>
void for_each_part(const Chunks& chunks, std::int64_t begin, std::int64_t end, Visit&& visit) {
  if (begin >= end) return;
  for (std::int64_t number = chunks.number_at(begin); begin < end; ++number) {
    const ChunkPart part = chunks.part(number);
    const std::int64_t next = part.position + part.elements < end ? part.position + part.elements : end;
    visit(part, begin - part.position, next - part.position);
    begin = next;
  }
}

/// Calls `visit(FileRun)` for each stretch of [begin, end) that is contiguous in the file, ascending.  Stretches of
/// neighbouring chunks stay separate.
template <typename Visit>
void for_each_file_run(const Section& section, std::int64_t begin, std::int64_t end, Visit&& visit) {
  if (!section.chunks) {
    for_each_run_of_box({section.shape, section.strides, section.origin}, begin, end, visit);
    return;
  }
  for_each_part(*section.chunks, begin, end, [&](const ChunkPart& part, std::int64_t from, std::int64_t to) {
    for_each_run_of_box({part.shape, part.strides, part.file}, from, to, [&](const FileRun& run) {
      visit(FileRun{run.file, run.position + part.position, run.elements});
    });
  });
}

}  // namespace plait::plan
