/// The array that the file views of all ranks form together.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiio/datatype.hpp"
#include "plait/array_description.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::mpiio {

/// The view of one rank.
struct FileView {
  ArrayDatatype filetype;  ///< std::monostate if the view is not understood
  std::int64_t displacement = 0;
  std::int64_t etype_bytes = 1;
  std::int64_t extent_bytes = 0;  ///< from one filetype to the next
};

/// An array in a file, of which each rank of a layout accesses its part.
struct SharedArray {
  ArrayType type;
  std::int64_t offset = 0;  ///< byte at which the array begins
  Region region;
  Layout layout;  ///< of the region
};

/// The array that the views of all ranks form, once for each filetype in succession.
class TiledArray {
 public:
  /// distance: bytes from one array to the next.
  TiledArray(SharedArray array, std::int64_t distance);

  bool has_replicas() const { return array_.layout.replicas() > 1; }
  /// Returns the bytes of a rank's filetype: its part of one array.
  std::int64_t bytes(int rank) const;
  /// True if `count` arrays in succession are one array, with a further dimension.
  bool can_join(std::int64_t count) const;
  /// Returns `count` arrays from array `first` on.
  /// errors  kArgument: numbers past 2^63.
  SharedArray tiles(std::int64_t first, std::int64_t count) const;
  /// Returns the nanoseconds that Plait saves for each array if the file is open, the same number on all ranks; 0 if
  /// each rank has one piece of the file, for which two-phase access gains nothing.
  std::int64_t gain() const { return gain_; }
  std::string describe() const;

 private:
  SharedArray array_;
  std::int64_t distance_;
  std::int64_t gain_;
};

/// Returns the byte after the last element that an access to all of the array reads or writes.
std::int64_t end_of_access(const SharedArray& array);

/// Returns the array that the views of all ranks form, the same on all ranks; nothing if they form none. Collective.
/// cost  One reduction, and one gathering of boxes if views are subarrays.
std::optional<TiledArray> agree_on_array(const std::optional<FileView>& view, MPI_Comm comm);

/// The box of a rank in an array.
struct Box {
  int rank = 0;
  Extents starts;
  Extents sizes;
};

/// Returns the layout of boxes that form a grid without gaps, or are all the same, and the region that they cover;
/// nothing for other boxes.
struct Tiling {
  Region region;
  Layout layout;
};
std::optional<Tiling> tile(const std::vector<Box>& boxes, Order order);

}  // namespace plait::mpiio
