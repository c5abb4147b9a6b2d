/// The array that the file views of all ranks form together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiio/datatype.hpp"
#include "mpiio/views.hpp"
#include "plait/array_description.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::mpiio {

/// An array in a file, of which each rank of a layout accesses its part.
struct SharedArray {
  ArrayType type;
  std::int64_t offset = 0;  ///< byte at which the array begins
  Region region;
  Layout layout;  ///< of the region
};

/// The arrays that the views of all ranks form: the first filetypes of all ranks are array 0, the second ones array 1.
class TiledArray {
 public:
  /// distance: bytes from one array to the next; 0 if there is only one.
  TiledArray(SharedArray array, std::int64_t distance);

  bool has_replicas() const { return array_.layout.replicas() > 1; }
  /// Returns the bytes of a rank's filetype: its part of one array.
  std::int64_t bytes(int rank) const;
  /// True if these arrays exist and can be accessed as one array, which has one more dimension if there are several.
  bool can_join(std::int64_t first, std::int64_t count) const;
  /// Returns `count` arrays from array `first` on.
  /// errors  kArgument: numbers past 2^63.
  SharedArray tiles(std::int64_t first, std::int64_t count) const;
  std::string describe() const;

 private:
  SharedArray array_;
  std::int64_t distance_;
};

/// Returns the byte after the last element that an access to all of the array reads or writes.
std::int64_t end_of_access(const SharedArray& array);

/// Returns the array of which all ranks have the same darray; nothing if Plait has no such layout, on all ranks alike.
std::optional<TiledArray> make_array(const FileView& view);

/// Returns the array of which ranks have subarrays, the same on all ranks; nothing if they are not the parts of any.
/// Collective.
std::optional<TiledArray> gather_boxes(const std::optional<FileView>& view, std::size_t dimensions, MPI_Comm comm);

/// The box of a rank in an array.
struct Box {
  int rank = 0;
  Extents starts;
  Extents sizes;
};

/// The region that the boxes of all ranks cover, and the layout in which each rank owns its box.
struct Tiling {
  Region region;
  Layout layout;
};
/// Returns nothing unless the boxes form a grid without gaps, or are all the same.
std::optional<Tiling> tile(const std::vector<Box>& boxes, Order order);

}  // namespace plait::mpiio
