/// A section of an array in a store: which elements of which file an access touches, and in which order they lie there,
/// which is that of the array or goes chunk by chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/access/chunks.hpp"

namespace plait::plan {

/// A stretch of places as an N-dimensional box of the section: [lo, hi) in each dimension.  `place` counts from the
/// beginning of the range that was cut.
struct Box {
  Extents lo;
  Extents hi;
  std::int64_t place = 0;
  Extents steps{};  ///< places from a neighbour to the next; empty: as in a dense array of the section's shape
};

/// The elements of a region, as a dense array of their own: `shape` has all dimensions of the file's array, slowest in
/// the file first, with the extent 1 where the region takes a single index.  A *place* of the section counts these
/// elements in file order; ranges of places are what readers and windows are cut from.
struct Section {
  Extents shape;                 ///< elements, slowest first
  std::optional<Chunks> chunks;  ///< where the file's array lies in chunks; `steps` and `origin` say nothing then
  Extents steps;                 ///< file distance of neighbours in each dimension, in elements
  std::int64_t origin = 0;       ///< file place of the first element, in elements
  std::int64_t elements = 1;
  std::vector<int>
      layout_dimension;  ///< the dimension of the layout that a section dimension is, -1 for a single index
  Extents layout_shape;  ///< the shape that a layout for this section has

  /// chunk: the shape of the chunks that the file's array lies in, dimensions as in `file_shape`; empty: none.
  /// errors  kArgument: the region, or the chunk, does not fit the array.
  Section(const Extents& file_shape, Order file_order, const Region& region, const Extents& chunk = {});

  /// Elements that are contiguous in the file wherever a dimension is walked whole: the product of the fastest
  /// dimensions that the region takes whole, of a chunk inside of the array where there are chunks.
  std::int64_t contiguous_elements() const;
  /// Whether places follow each other in the file without a gap, whatever the range.
  bool contiguous() const { return !chunks && contiguous_elements() == elements; }
  /// The file place of an element, in elements.
  std::int64_t file_place(const Extents& index) const;
  /// The places [begin, end), ascending: at most 2N-1 boxes in the file, or in each chunk.
  std::vector<Box> boxes(std::int64_t begin, std::int64_t end) const;
};

/// Cuts the places [begin, end) of a dense array (slowest dimension first) into at most 2N-1 boxes, ascending.
std::vector<Box> boxes_of(const Extents& shape, std::int64_t begin, std::int64_t end);

/// A stretch of the file: `elements` elements from file place `file` on, which are the section's places from `place`
/// on.
struct FileRun {
  std::int64_t file = 0;
  std::int64_t place = 0;
  std::int64_t elements = 0;
};

/// The same of a box with such steps between neighbours in the file.
std::int64_t contiguous_elements(const Extents& shape, const Extents& steps);

/// Calls `visit(FileRun)` for each stretch of the places [begin, end) of a box that is contiguous in the file, ascending.
template <typename Visit>
void for_each_run_of_box(const Extents& shape, const Extents& steps, std::int64_t origin, std::int64_t begin,
                         std::int64_t end, Visit&& visit) {
  const std::int64_t run = contiguous_elements(shape, steps);
  if (run == 0 || begin >= end) return;
  // One run for each combination of the slower dimensions.
  std::size_t slow = shape.size();
  for (std::int64_t product = 1; product < run;) product *= shape[--slow];
  for (std::int64_t place = begin; place < end;) {
    std::int64_t index = place / run;
    std::int64_t file = origin + place % run;
    for (std::size_t d = slow; d-- > 0;) {
      file += index % shape[d] * steps[d];
      index /= shape[d];
    }
    const std::int64_t left = run - place % run;
    const std::int64_t length = left < end - place ? left : end - place;
    visit(FileRun{file, place, length});
    place += length;
  }
}

/// Calls `visit(part, from, to)` for each chunk that has something of the places [begin, end), ascending: it has
/// [from, to) of its own places.
template <typename Visit>
void for_each_part(const Chunks& chunks, std::int64_t begin, std::int64_t end, Visit&& visit) {
  if (begin >= end) return;
  for (std::int64_t number = chunks.number_at(begin); begin < end; ++number) {
    const ChunkPart part = chunks.part(number);
    const std::int64_t next = part.place + part.elements < end ? part.place + part.elements : end;
    visit(part, begin - part.place, next - part.place);
    begin = next;
  }
}

/// Calls `visit(FileRun)` for each stretch of [begin, end) that is contiguous in the file, ascending; stretches of
/// neighbouring chunks are two.
template <typename Visit>
void for_each_file_run(const Section& section, std::int64_t begin, std::int64_t end, Visit&& visit) {
  if (!section.chunks) {
    for_each_run_of_box(section.shape, section.steps, section.origin, begin, end, visit);
    return;
  }
  for_each_part(*section.chunks, begin, end, [&](const ChunkPart& part, std::int64_t from, std::int64_t to) {
    for_each_run_of_box(part.shape, part.steps, part.file, from, to,
                        [&](const FileRun& run) { visit(FileRun{run.file, run.place + part.place, run.elements}); });
  });
}

}  // namespace plait::plan
