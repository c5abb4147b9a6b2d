#include "container/hdf5/chunk_coordinates.hpp"

#include <array>

namespace plait::container::hdf5 {

ChunkCoordinates::ChunkCoordinates(const Library& hdf5, Id id, const Dataset& dataset)
    : chunk_(dataset.chunk), grid_(dataset.grid()) {
  int index = 0;
  if (hdf5->H5Dget_chunk_index_type != nullptr && hdf5->H5Dget_chunk_index_type(id, &index) >= 0)
    index_ = static_cast<Index>(index);
  if (index_ != Index::kExtensibleArray) return;
  const Handle space(hdf5->H5Dget_space(id), hdf5->H5Sclose);
  std::array<Size, kMaxDimensions> extents{};
  std::array<Size, kMaxDimensions> maximum{};
  hdf5->H5Sget_simple_extent_dims(space.id(), extents.data(), maximum.data());
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    const auto length = static_cast<Size>(chunk_[d]);
    max_grid_.push_back(maximum[d] / length + (maximum[d] % length != 0 || maximum[d] == 0 ? 1 : 0));
    if (maximum[d] == kUnlimited)
      unlimited_ = d;
    else if (__builtin_mul_overflow(elements_per_row_, max_grid_[d], &elements_per_row_))
      elements_per_row_ = kUnlimited;  // a damaged file: the library numbers chunks in 32 bits
  }
}

std::int64_t ChunkCoordinates::number(const Size* first) const {
  std::array<Size, kMaxDimensions> at{};
  for (std::size_t d = 0; d < grid_.size(); ++d) at[d] = first[d] / static_cast<Size>(chunk_[d]);
  if (are_corrected()) {
    // Dimensions before the unlimited one are 0 in what the library reports.
    Size element = at[unlimited_];
    for (std::size_t d = unlimited_ + 1; d < grid_.size(); ++d) element = element * max_grid_[d] + at[d];
    at[unlimited_] = element / elements_per_row_;
    for (std::size_t d = grid_.size(); d-- > 0;) {
      if (d == unlimited_) continue;
      at[d] = element % max_grid_[d];
      element /= max_grid_[d];
    }
  }
  std::int64_t number = 0;
  for (std::size_t d = 0; d < grid_.size(); ++d) {
    if (at[d] >= static_cast<Size>(grid_[d])) return -1;
    number = number * grid_[d] + static_cast<std::int64_t>(at[d]);
  }
  return number;
}

std::vector<Size> ChunkCoordinates::first(std::int64_t number) const {
  std::vector<Size> first(grid_.size());
  for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d])
    first[d] = static_cast<Size>(number % grid_[d] * chunk_[d]);
  return first;
}

}  // namespace plait::container::hdf5
