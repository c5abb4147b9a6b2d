/// A section of an array in a store: which elements of which file an access touches, and in which order they lie there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::plan {

/// The elements of a region, as a dense array of their own: `shape` has all dimensions of the file's array, slowest in
/// the file first, with the extent 1 where the region takes a single index.  A *position* of the section counts these
/// elements in file order; ranges of positions are what readers and windows are cut from.
struct Section {
  Extents shape;            ///< elements, slowest first
  Extents steps;            ///< file distance of neighbours in each dimension, in elements
  std::int64_t origin = 0;  ///< file position of the first element, in elements
  std::int64_t elements = 1;
  std::vector<int>
      layout_dimension;  ///< the dimension of the layout that a section dimension is, -1 for a single index
  Extents layout_shape;  ///< the shape that a layout for this section has

  /// errors  kArgument: the region does not fit the array.
  Section(const Extents& file_shape, Order file_order, const Region& region);

  /// Elements that are contiguous in the file wherever a dimension is walked whole: the product of the fastest
  /// dimensions that the region takes whole.
  std::int64_t contiguous_elements() const;
  /// Whether positions follow each other in the file without a gap.
  bool contiguous() const { return contiguous_elements() == elements; }
};

/// A stretch of positions as an N-dimensional box of the section: [lo, hi) in each dimension.  `position` counts from
/// the beginning of the range that was cut.
struct Box {
  Extents lo;
  Extents hi;
  std::int64_t position = 0;
};

/// Cuts the positions [begin, end) of a dense array (slowest dimension first) into at most 2N-1 boxes, ascending.
std::vector<Box> boxes_of(const Extents& shape, std::int64_t begin, std::int64_t end);

/// A stretch of the file: `elements` elements from file position `file` on, which are the section's positions from
/// `position` on.
struct FileRun {
  std::int64_t file = 0;
  std::int64_t position = 0;
  std::int64_t elements = 0;
};

/// Calls `visit(FileRun)` for each stretch of [begin, end) that is contiguous in the file, ascending.
template <typename Visit>
void for_each_file_run(const Section& section, std::int64_t begin, std::int64_t end, Visit&& visit) {
  const std::int64_t run = section.contiguous_elements();
  if (run == 0 || begin >= end) return;
  // One run for each combination of the slower dimensions.
  std::size_t slow = section.shape.size();
  for (std::int64_t product = 1; product < run;) product *= section.shape[--slow];
  for (std::int64_t position = begin; position < end;) {
    std::int64_t index = position / run;
    std::int64_t file = section.origin + position % run;
    for (std::size_t d = slow; d-- > 0;) {
      file += index % section.shape[d] * section.steps[d];
      index /= section.shape[d];
    }
    const std::int64_t left = run - position % run;
    const std::int64_t length = left < end - position ? left : end - position;
    visit(FileRun{file, position, length});
    position += length;
  }
}

}  // namespace plait::plan
