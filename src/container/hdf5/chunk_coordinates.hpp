/// The coordinates of chunks, as the HDF5 library reports them.
#pragma once

#include <cstdint>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// Converts the coordinates that H5Dchunk_iter() and H5Dget_chunk_info() report into the numbers of chunks.
///
/// Both functions are wrong if the chunk index is an "extensible array" (the index of datasets with one unlimited
/// dimension) and the unlimited dimension is not the first (HDF5 1.10.0 to 2.0.0). The index stores chunk k as its
/// element k, where k numbers the chunks in row-major order with the unlimited dimension moved to the first position.
/// The library visits the elements in this order but counts coordinates in row-major order of the original dimensions.
/// This class computes k from the reported coordinates and then unravels k with the unlimited dimension first.
///
/// Example: shape (4, 4), chunks (2, 2), maximum shape (4, unlimited): a grid of 2x2 chunks with 2 rows at most. The
/// library reports element k = 2 as chunk (0, 2), because its count along the unlimited dimension 1 never wraps. The
/// true chunk is in column 2 / 2 = 1 and row 2 % 2 = 0.
///
/// H5Dget_chunk_info_by_coord() has the same error and cannot serve as a check. H5Dread_chunk() computes k from the
/// coordinates correctly, so that HdfFile::check_offsets() uses it.
class ChunkCoordinates {
 public:
  ChunkCoordinates(const Library& hdf5, hid_t id, const HdfDataset& dataset);

  /// Converts the reported coordinates of a chunk's first element to the number of the chunk, which is negative if the
  /// chunk is outside the array.
  std::int64_t to_number(const hsize_t* reported_first) const;
  /// Returns the coordinates of the first element of a chunk.
  std::vector<hsize_t> to_first_element(std::int64_t number) const;
  /// Returns true if the coordinates that the library reports for this dataset are wrong, so that to_number() corrects
  /// them.
  bool are_corrected() const { return is_extensible_array_ && unlimited_ > 0; }

 private:
  const Extents chunk_;                  ///< shape of a chunk
  const Extents grid_;                   ///< number of chunks along each dimension
  const std::size_t stored_dimensions_;  ///< number of dimensions without those of elements that are arrays
  bool is_extensible_array_ = false;
  // The following members are set for extensible arrays only.
  std::vector<hsize_t> max_grid_;  ///< number of chunks along each dimension at its maximum length
  std::size_t unlimited_ = 0;      ///< index of the unlimited dimension
  hsize_t elements_per_row_ = 1;   ///< product of max_grid_ over the other dimensions
};

}  // namespace plait::container::hdf5
