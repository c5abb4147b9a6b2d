/// Which chunk of a dataset the library means when it lists one.
#pragma once

#include <cstdint>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// Turns the coordinates that H5Dchunk_iter() and H5Dget_chunk_info() report into the numbers of chunks.
///
/// Both are wrong for extensible arrays whose unlimited dimension is not the first (HDF5 1.10.0 to 2.0.0).  Such an
/// array stores chunk k at element k, where k numbers the chunks with the unlimited dimension first.  The
/// library walks the elements and counts coordinates as if that dimension were in its own position.  Reading back k
/// from these coordinates, and unravelling it with the dimension first, gives the true ones.
///
/// Example: shape (4, 4), chunks (2, 2), maximum shape (4, unlimited): a grid of 2x2 chunks with 2 rows at most.  The
/// library reports element k = 2 at (0, 2), as dimension 1 never ends.  True is column 2 / 2 = 1, row 2 % 2 = 0.
///
/// H5Dget_chunk_info_by_coord() walks the index in the same way, and so cannot serve as a check; H5Dread_chunk()
/// computes k from the coordinates, and can.
class ChunkCoordinates {
 public:
  ChunkCoordinates(const Library& hdf5, hid_t id, const HdfDataset& dataset);

  /// The number of the chunk whose first element is reported at `first`; below 0: it is outside of the array.
  std::int64_t number(const hsize_t* first) const;
  /// The first element of a chunk.
  std::vector<hsize_t> first(std::int64_t number) const;
  /// True if what the library reports is corrected.
  bool are_corrected() const { return is_extensible_array_ && unlimited_ > 0; }

 private:
  const Extents chunk_;
  const Extents grid_;
  bool is_extensible_array_ = false;
  // The following members are set for extensible arrays only.
  std::vector<hsize_t> max_grid_;  ///< chunks along each dimension at its maximum length
  std::size_t unlimited_ = 0;      ///< the unlimited dimension
  hsize_t elements_per_row_ = 1;   ///< the product of the other maxima
};

}  // namespace plait::container::hdf5
