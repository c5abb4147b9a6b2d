// Makes the array of which the file views of all ranks are the parts.
//
// Problem: a darray states the array and the distribution, but a subarray states one box of an array, and only the
// boxes of all ranks show how it is distributed.
//
// Idea: boxes are gathered on all ranks, which find the same grid of them. A rank whose view is only bytes has no box.
//
// Example: ranks 0 and 1 have boxes of 4x3 of an array of 4x6 at byte 100, which begin at (0, 0) and (0, 3). The array
// is 4x6 (*, block) onto (2). The second filetype of each view is its part of a second array, at byte 292 if the
// elements are doubles.

#include "mpiio/shared_array.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "plait/error.hpp"

namespace plait::mpiio {

namespace {

/// Adds a dimension that is not distributed: the slowest or the fastest one of the array.
SharedArray with_dimension(SharedArray array, std::int64_t size, bool is_slowest) {
  const bool is_first = is_slowest == (array.type.order == Order::kC);
  const auto insert = [&](auto& values, const auto& value) {
    values.insert(is_first ? values.begin() : values.end(), value);
  };
  Extents shape = array.layout.shape();
  std::vector<Distribution> distributions = array.layout.distributions();
  insert(shape, size);
  insert(distributions, Distribution::collapsed());
  array.layout = Layout(std::move(shape), std::move(distributions), array.layout.grid(), array.layout.ranks(),
                        array.type.order, array.layout.options());
  insert(array.type.shape, size);
  if (!array.region.empty()) insert(array.region, Slice{0, size});
  return array;
}

/// Divides elements of unusual sizes, such as records, into units that Plait copies fast.
SharedArray with_plain_elements(SharedArray array) {
  constexpr std::int64_t kMaxUnit = 16;
  const std::int64_t bytes = array.type.element_bytes;
  const std::int64_t unit = std::min(bytes & -bytes, kMaxUnit);  // the largest power of two that divides them
  if (unit == bytes) return array;
  array.type.element_bytes = unit;
  return with_dimension(std::move(array), bytes / unit, /*is_slowest=*/false);
}

SharedArray to_shared_array(const FileView& view, const Darray& darray) {
  std::vector<Distribution> distributions;
  Extents grid;
  for (std::size_t d = 0; d < darray.shape.size(); ++d) {
    const bool is_default = darray.arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
    if (darray.kinds[d] == MPI_DISTRIBUTE_NONE) {
      distributions.push_back(Distribution::collapsed());
      continue;
    }
    grid.push_back(darray.grid[d]);
    if (darray.kinds[d] == MPI_DISTRIBUTE_BLOCK)
      distributions.push_back(Distribution::blocked(is_default ? 0 : darray.arguments[d]));
    else
      distributions.push_back(Distribution::cyclic(is_default ? 1 : darray.arguments[d]));
  }
  Layout layout(darray.shape, std::move(distributions), std::move(grid), Order::kC, darray.order);
  return with_plain_elements({.type = {darray.shape, "", darray.element_bytes, darray.order},
                              .offset = view.displacement,
                              .region = {},
                              .layout = std::move(layout)});
}

/// A subarray as numbers, the same number of them on all ranks.
class BoxRecord {
 public:
  BoxRecord(std::size_t dimensions, bool is_valid) : numbers_(kHead + 3 * dimensions) {
    numbers_[0] = is_valid ? 0 : -1;
  }
  BoxRecord(std::size_t dimensions, const FileView& view, const Subarray& subarray) : BoxRecord(dimensions, true) {
    numbers_ = {1, view.displacement, view.extent_bytes, subarray.element_bytes,
                static_cast<std::int64_t>(subarray.order)};
    for (const Extents* values : {&subarray.shape, &subarray.starts, &subarray.sizes})
      numbers_.insert(numbers_.end(), values->begin(), values->end());
  }

  static std::vector<std::int64_t> gather(const BoxRecord& own, int ranks, MPI_Comm comm) {
    std::vector<std::int64_t> all(own.numbers_.size() * static_cast<std::size_t>(ranks));
    const int number = static_cast<int>(own.numbers_.size());
    if (PMPI_Allgather(own.numbers_.data(), number, MPI_INT64_T, all.data(), number, MPI_INT64_T, comm) != MPI_SUCCESS)
      all.clear();
    return all;
  }
  /// The first numbers: 1 for a box, 0 for none or -1 for an unknown view; displacement; extent; element bytes; order.
  /// The shape, the starts and the sizes follow.
  static constexpr std::size_t kHead = 5;

 private:
  std::vector<std::int64_t> numbers_;
};

std::optional<TiledArray> find_boxes(const std::optional<FileView>& own, std::size_t dimensions, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const auto* subarray = own ? std::get_if<Subarray>(&own->filetype) : nullptr;
  const BoxRecord record =
      subarray != nullptr ? BoxRecord(dimensions, *own, *subarray) : BoxRecord(dimensions, own.has_value());
  const std::vector<std::int64_t> all = BoxRecord::gather(record, ranks, comm);
  const auto size = static_cast<std::ptrdiff_t>(BoxRecord::kHead + 3 * dimensions);
  const auto n = static_cast<std::ptrdiff_t>(dimensions);
  std::vector<Box> boxes;
  const std::int64_t* head = nullptr;
  std::int64_t distance = 0;
  for (int rank = 0; rank < ranks && !all.empty(); ++rank) {
    const std::int64_t* const numbers = all.data() + rank * size;
    if (numbers[0] < 0) return std::nullopt;
    if (numbers[0] == 0) continue;
    // Blocks may end differently, and then the second filetypes are not parts of a second array.
    if (head != nullptr && numbers[2] != distance) distance = 0;
    if (head == nullptr) distance = numbers[2];
    head = numbers;
    const std::int64_t* const starts = numbers + static_cast<std::ptrdiff_t>(BoxRecord::kHead) + n;
    boxes.push_back({rank, Extents(starts, starts + n), Extents(starts + n, starts + 2 * n)});
  }
  if (head == nullptr) return std::nullopt;
  const auto order = static_cast<Order>(head[4]);
  std::optional<Tiling> tiling = tile(boxes, order);
  if (!tiling) return std::nullopt;
  const std::int64_t* const shape = head + BoxRecord::kHead;
  SharedArray array{.type = {Extents(shape, shape + n), "", head[3], order},
                    .offset = head[1],
                    .region = std::move(tiling->region),
                    .layout = std::move(tiling->layout)};
  return TiledArray(with_plain_elements(std::move(array)), distance);
}

}  // namespace

TiledArray::TiledArray(SharedArray array, std::int64_t distance) : array_(std::move(array)), distance_(distance) {}

std::int64_t TiledArray::bytes(int rank) const {
  return array_.layout.has_rank(rank) ? array_.layout.local_elements(rank) * array_.type.element_bytes : 0;
}

bool TiledArray::can_join(std::int64_t first, std::int64_t count) const {
  if (distance_ == 0) return first == 0 && count == 1;
  std::int64_t bytes = array_.type.element_bytes;
  for (const std::int64_t extent : array_.type.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return false;
  return count == 1 || (bytes == distance_ && array_.type.shape.size() < kMaxDimensions);
}

SharedArray TiledArray::tiles(std::int64_t first, std::int64_t count) const {
  SharedArray found = count == 1 ? array_ : with_dimension(array_, count, /*is_slowest=*/true);
  std::int64_t distance = 0;
  if (__builtin_mul_overflow(first, distance_, &distance) ||
      __builtin_add_overflow(found.offset, distance, &found.offset))
    throw Error(ErrorKind::kArgument, "the offset of an access is past 2^63 bytes; access fewer elements");
  return found;
}

std::string TiledArray::describe() const {
  constexpr std::size_t kMaxLength = 120;
  std::string text = to_string(array_.layout);
  if (text.size() > kMaxLength) text = text.substr(0, kMaxLength) + "...";
  return text;
}

std::int64_t end_of_access(const SharedArray& array) {
  const Extents& shape = array.type.shape;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = array.type.order == Order::kC ? i : shape.size() - 1 - i;
    const std::int64_t end = array.region.empty() ? shape[d] : array.region[d].start + array.region[d].count;
    last = last * shape[d] + end - 1;
  }
  return array.offset + (last + 1) * array.type.element_bytes;
}

std::optional<TiledArray> make_array(const FileView& view) {
  try {
    return TiledArray(to_shared_array(view, std::get<Darray>(view.filetype)), view.extent_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<TiledArray> gather_boxes(const std::optional<FileView>& view, std::size_t dimensions, MPI_Comm comm) {
  try {
    return find_boxes(view, dimensions, comm);
  } catch (const Error&) {
    // Plait has no such layout: this depends on nothing but what all ranks agree on.
    return std::nullopt;
  }
}

}  // namespace plait::mpiio
