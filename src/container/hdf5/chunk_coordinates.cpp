// Correcting the coordinates of chunks in an extensible array; the header explains the error of the library.

#include "container/hdf5/chunk_coordinates.hpp"

#include <array>

namespace plait::container::hdf5 {

ChunkCoordinates::ChunkCoordinates(const Library& hdf5, hid_t id, const HdfDataset& dataset)
    : chunk_(dataset.chunk), grid_(dataset.grid()), stored_dimensions_(dataset.stored_dimensions()) {
  H5D_chunk_index_t index = H5D_CHUNK_IDX_BTREE;
  if (hdf5->H5Dget_chunk_index_type(id, &index) < 0 || index != H5D_CHUNK_IDX_EARRAY) return;
  is_extensible_array_ = true;
  const Handle space(hdf5->H5Dget_space(id), hdf5->H5Sclose);
  std::array<hsize_t, kMaxDimensions> extents{};
  std::array<hsize_t, kMaxDimensions> max_extents{};
  hdf5->H5Sget_simple_extent_dims(space.id(), extents.data(), max_extents.data());
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    const auto length = static_cast<hsize_t>(chunk_[d]);
    max_grid_.push_back(max_extents[d] / length + (max_extents[d] % length != 0 || max_extents[d] == 0 ? 1 : 0));
    if (max_extents[d] == H5S_UNLIMITED)
      unlimited_ = d;
    else if (__builtin_mul_overflow(elements_per_row_, max_grid_[d], &elements_per_row_))
      elements_per_row_ = H5S_UNLIMITED;  // the file is damaged: the library numbers chunks in 32 bits
  }
}

std::int64_t ChunkCoordinates::to_number(const hsize_t* reported_first) const {
  std::array<hsize_t, kMaxDimensions> index{};  // of the chunk in the grid
  for (std::size_t d = 0; d < stored_dimensions_; ++d) index[d] = reported_first[d] / static_cast<hsize_t>(chunk_[d]);
  if (are_corrected()) {
    // The library reports 0 for each dimension before the unlimited one, so they do not contribute to k.
    hsize_t element = index[unlimited_];  // k, the number of the chunk's element in the extensible array
    for (std::size_t d = unlimited_ + 1; d < grid_.size(); ++d) element = element * max_grid_[d] + index[d];
    index[unlimited_] = element / elements_per_row_;
    for (std::size_t d = grid_.size(); d-- > 0;) {
      if (d == unlimited_) continue;
      index[d] = element % max_grid_[d];
      element /= max_grid_[d];
    }
  }
  std::int64_t number = 0;
  for (std::size_t d = 0; d < grid_.size(); ++d) {
    if (index[d] >= static_cast<hsize_t>(grid_[d])) return -1;
    number = number * grid_[d] + static_cast<std::int64_t>(index[d]);
  }
  return number;
}

std::vector<hsize_t> ChunkCoordinates::to_first_element(std::int64_t number) const {
  std::vector<hsize_t> first(grid_.size());
  for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
    first[d] = static_cast<hsize_t>(number % grid_[d] * chunk_[d]);
  return first;
}

}  // namespace plait::container::hdf5
