// Finds the array that the file views of all ranks form together.
//
// Problem: each rank has set a view of its own. Plait can carry out the accesses of all ranks at once only if their
// views are the parts of one array.
//
// Idea: a darray states the array and the distribution over all ranks, so it is enough that all ranks have the same
// one, each as the rank that it is: a reduction of a hash decides. Subarrays state one box each, so their boxes are
// gathered if all are parts of one array. A rank whose view is only bytes may be one that takes no part in accesses.
//
// Example: four ranks have darrays of an array of 8x12 doubles that is distributed by blocks in dimension 0 over 4
// ranks, at displacement 100. Their hashes are equal, so the array is 8x12 (block, *) onto (4) at byte 100. The second
// filetype of each view is its part of a second array at byte 868.

#include "mpiio/shared_array.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "plait/error.hpp"

namespace plait::mpiio {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

/// A hash of numbers, which are equal on all ranks if and only if it is (but for collisions in 62 bits).
class Hash {
 public:
  void add(std::int64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ ^= static_cast<std::uint64_t>(value) >> (8 * byte) & 0xff;
      state_ *= 0x100000001b3U;
    }
  }
  void add(const Extents& values) {
    add(std::ssize(values));
    for (const std::int64_t value : values) add(value);
  }
  std::int64_t value() const { return static_cast<std::int64_t>((state_ ^ state_ >> 31) & ((1ULL << 62) - 1)); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

/// The description of a view that a rank sends to the others. Ranks agree on the smallest value of each number.
struct Summary {
  std::int64_t is_understood = 0;
  std::int64_t is_no_darray = 1;
  std::int64_t is_no_subarray = 1;
  std::int64_t is_no_other = 1;  ///< 0 for bytes
  std::int64_t hash = kAny;
  std::int64_t inverse_hash = kAny;
  std::int64_t minus_dimensions = 0;

  bool is_one_darray() const {
    return is_understood == 1 && is_no_darray == 0 && is_no_subarray == 1 && is_no_other == 1 && is_same();
  }
  bool is_one_array_of_boxes() const {
    return is_understood == 1 && is_no_darray == 1 && is_no_subarray == 0 && is_same();
  }
  bool is_same() const { return hash == -inverse_hash; }
};

void add_common(Hash& hash, const FileView& view, const Extents& shape, Order order, std::int64_t element_bytes) {
  hash.add(view.displacement);
  hash.add(view.extent_bytes);
  hash.add(shape);
  hash.add(static_cast<std::int64_t>(order));
  hash.add(element_bytes);
}

void set_hash(Summary& summary, const Hash& hash) {
  summary.hash = hash.value();
  summary.inverse_hash = -hash.value();
}

bool is_own(const Darray& darray, MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  return darray.rank == rank && darray.ranks == ranks;
}

Summary summarize(const std::optional<FileView>& view, MPI_Comm comm) {
  Summary summary;
  if (!view) return summary;
  Hash hash;
  if (const auto* darray = std::get_if<Darray>(&view->filetype)) {
    if (!is_own(*darray, comm)) return summary;
    add_common(hash, *view, darray->shape, darray->order, darray->element_bytes);
    for (const int kind : darray->kinds) hash.add(kind);
    for (const int argument : darray->arguments) hash.add(argument);
    hash.add(darray->grid);
    summary.is_no_darray = 0;
    set_hash(summary, hash);
  } else if (const auto* subarray = std::get_if<Subarray>(&view->filetype)) {
    add_common(hash, *view, subarray->shape, subarray->order, subarray->element_bytes);
    summary.is_no_subarray = 0;
    summary.minus_dimensions = -std::ssize(subarray->shape);
    set_hash(summary, hash);
  } else if (std::holds_alternative<Dense>(view->filetype)) {
    summary.is_no_other = 0;
  } else {
    return summary;
  }
  summary.is_understood = 1;
  return summary;
}

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
  const std::int64_t unit = std::min(bytes & -bytes, kMaxUnit);
  if (unit == bytes) return array;
  array.type.element_bytes = unit;
  return with_dimension(std::move(array), bytes / unit, false);
}

SharedArray make_array(const FileView& view, const Darray& darray) {
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
  explicit BoxRecord(std::size_t dimensions) : numbers_(kHead + 3 * dimensions) {}
  BoxRecord(std::size_t dimensions, const FileView& view, const Subarray& subarray) : BoxRecord(dimensions) {
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
  static constexpr std::size_t kHead = 5;

 private:
  std::vector<std::int64_t> numbers_;
};

std::optional<TiledArray> gather_boxes(const FileView& own, std::size_t dimensions, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const auto* subarray = std::get_if<Subarray>(&own.filetype);
  const BoxRecord record = subarray != nullptr ? BoxRecord(dimensions, own, *subarray) : BoxRecord(dimensions);
  const std::vector<std::int64_t> all = BoxRecord::gather(record, ranks, comm);
  const auto size = static_cast<std::ptrdiff_t>(BoxRecord::kHead + 3 * dimensions);
  const auto n = static_cast<std::ptrdiff_t>(dimensions);
  std::vector<Box> boxes;
  const std::int64_t* head = nullptr;
  for (int rank = 0; rank < ranks && !all.empty(); ++rank) {
    const std::int64_t* const numbers = all.data() + rank * size;
    if (numbers[0] == 0) continue;
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
  return TiledArray(with_plain_elements(std::move(array)), head[2]);
}

/// Returns the number of pieces of the file that a rank has.
std::int64_t count_pieces(const SharedArray& array, std::int64_t rank) {
  const Extents local = array.layout.local_shape(rank);
  std::int64_t elements = 1;
  for (const std::int64_t extent : local) elements *= extent;
  if (elements == 0) return 0;
  const std::int64_t runs = array.layout.runs(rank, array.type.order);
  if (array.region.empty()) return runs;
  // Runs that continue in the region may end in the array.
  std::int64_t longest = 1;
  for (std::size_t i = 0; i < local.size(); ++i) {
    const std::size_t d = array.type.order == Order::kC ? local.size() - 1 - i : i;
    longest *= local[d];
    if (array.region[d].count < array.type.shape[d]) break;
  }
  return std::max(runs, elements / longest);
}

/// Estimates by what MPIs take for each piece of a file, and for bytes that they send between ranks.
std::int64_t estimate_gain(const SharedArray& array) {
  constexpr double kPerPiece = 100;
  constexpr double kPerByte = 0.5;
  const std::vector<std::int64_t> ranks = array.layout.rank_numbers();
  const std::int64_t pieces = std::max(count_pieces(array, ranks.front()), count_pieces(array, ranks.back()));
  if (pieces <= 1) return 0;
  const double bytes = static_cast<double>(array.layout.elements()) * static_cast<double>(array.type.element_bytes);
  const double gain = kPerPiece * static_cast<double>(pieces) * static_cast<double>(ranks.size()) + kPerByte * bytes;
  return static_cast<std::int64_t>(std::min(gain, 1e15));
}

}  // namespace

TiledArray::TiledArray(SharedArray array, std::int64_t distance)
    : array_(std::move(array)), distance_(distance), gain_(estimate_gain(array_)) {}

std::int64_t TiledArray::bytes(int rank) const {
  return array_.layout.has_rank(rank) ? array_.layout.local_elements(rank) * array_.type.element_bytes : 0;
}

bool TiledArray::can_join(std::int64_t count) const {
  std::int64_t bytes = array_.type.element_bytes;
  for (const std::int64_t extent : array_.type.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return false;
  return count == 1 || (bytes == distance_ && array_.type.shape.size() < kMaxDimensions);
}

SharedArray TiledArray::tiles(std::int64_t first, std::int64_t count) const {
  SharedArray found = count == 1 ? array_ : with_dimension(array_, count, true);
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

std::optional<TiledArray> agree_on_array(const std::optional<FileView>& view, MPI_Comm comm) {
  const Summary own = summarize(view, comm);
  Summary common;
  constexpr int kNumbers = sizeof(Summary) / sizeof(std::int64_t);
  if (PMPI_Allreduce(&own, &common, kNumbers, MPI_INT64_T, MPI_MIN, comm) != MPI_SUCCESS) return std::nullopt;
  try {
    if (common.is_one_darray())
      return TiledArray(make_array(*view, std::get<Darray>(view->filetype)), view->extent_bytes);
    if (common.is_one_array_of_boxes())
      return gather_boxes(*view, static_cast<std::size_t>(-common.minus_dimensions), comm);
  } catch (const Error&) {
    // Plait has no such layout: this depends on nothing but what all ranks agree on.
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace plait::mpiio
