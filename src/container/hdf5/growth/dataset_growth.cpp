// Entering appended chunks into the index of a dataset.
//
// Problem: HDF5 has five kinds of indexes, and its library enters a chunk only while it writes the chunk's bytes. If
// the chunk is in the index already, the library frees its former space and may store another chunk there immediately,
// although other programs still read the former one.
//
// Idea: the library writes all chunks to an Overlay, which makes it use the offsets where the chunks are already
// stored. Chunks that are in the index already are removed first: the dataset is reduced to a shape without them,
// closed and opened again, so that the library discards its list of freed space, and then extended.
//
// Example: shape (10), chunks of 4, compressed. append() of 5 elements has stored chunk 2 again, now with elements 8 to
// 11, and chunk 3. The dataset is reduced to (8), which removes chunk 2 from the index. Then it is extended to (15),
// and chunks 2 and 3 are entered with their offsets.

#include "container/hdf5/growth/dataset_growth.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/hdf5/growth/dataset_creation.hpp"
#include "container/hdf5/growth/overlay.hpp"
#include "container/hdf5/growth/overlay_driver.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

namespace {

/// The bytes of a file, mapped for reading. Pages that nothing reads cost nothing.
class MappedFile {
 public:
  MappedFile(int file, std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    if (bytes_ > 0) begin_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  ~MappedFile() {
    if (begin_ != MAP_FAILED) ::munmap(begin_, bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const std::byte* data() const { return begin_ == MAP_FAILED ? nullptr : static_cast<const std::byte*>(begin_); }

 private:
  void* begin_ = MAP_FAILED;
  std::size_t bytes_;
};

std::vector<hsize_t> to_sizes(const Extents& extents) { return {extents.begin(), extents.end()}; }

/// Returns the index of the first element of a chunk. grid: dataset.grid().
Extents first_element_index(const HdfDataset& dataset, const Extents& grid, std::int64_t number) {
  Extents first(grid.size());
  for (std::size_t d = grid.size(); d-- > 0; number /= grid[d]) first[d] = number % grid[d] * dataset.chunk[d];
  return first;
}

/// Returns true if an index is within `shape` in each dimension.
bool is_inside(const Extents& first, const Extents& shape) {
  for (std::size_t d = 0; d < first.size(); ++d)
    if (first[d] >= shape[d]) return false;
  return true;
}

/// Returns the chunk of that number in the index; nullptr if there is none.
const Chunk* find_in_index(const HdfDataset& dataset, std::int64_t number) {
  const auto found = std::ranges::lower_bound(dataset.chunks, number, {}, &Chunk::number);
  return found != dataset.chunks.end() && found->number == number ? &*found : nullptr;
}

/// A dataset that is open in an overlay.
class OverlayDataset {
 public:
  OverlayDataset(const Library& hdf5, Overlay& overlay, const GrowingFile& file, const std::string& path)
      : hdf5_(hdf5), display_name_(base::text(file.path, "::", path)), file_(hdf5, overlay, file.path) {
    dataset_ = Handle(hdf5->H5Dopen2(file_.id(), ("/" + path).c_str(), 0), hdf5->H5Dclose);
    if (!dataset_) fail("cannot be opened");
  }
  void set_shape(const Extents& shape) {
    if (hdf5_->H5Dset_extent(dataset_.id(), to_sizes(shape).data()) < 0)
      fail(base::text("cannot get the shape ", shape_to_string(shape)));
  }
  /// Adds a chunk to the index. bytes: the bytes of the chunk. The library writes them to the offset that
  /// Overlay::direct_next_allocation() has set, and the overlay discards them.
  void add_to_index(const ChunkEntry& chunk, std::size_t dimensions, const std::byte* bytes) {
    std::vector<hsize_t> first = to_sizes(chunk.first);
    first.resize(dimensions);
    if (hdf5_->H5Dwrite_chunk(dataset_.id(), 0, chunk.filter_mask, first.data(), static_cast<std::size_t>(chunk.bytes),
                              bytes) < 0)
      fail(base::text("has a chunk at ", shape_to_string(chunk.first), " that cannot be entered into its index"));
  }
  void close() {
    if (dataset_.close_now() < 0) fail("cannot be closed");
    file_.close();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    base::throw_system_error(EIO, display_name_, ' ', what, " by ", hdf5_.describe(), hdf5_.last_error(),
                             "; the file has its former content; look at it by h5dump");
  }

  const Library& hdf5_;
  std::string display_name_;
  OverlayFile file_;
  Handle dataset_;
};

/// Makes a change in an overlay.
void change_dataset(const Library& hdf5, Overlay& overlay, const GrowingFile& file, const DatasetGrowth& growth) {
  std::string path = growth.path;
  if (growth.creation) {
    path = create_dataset(hdf5, overlay, file.path, *growth.creation);
    if (!growth.creation->member.in_chunks()) return;
  }
  if (!growth.reduced.empty()) {
    OverlayDataset dataset(hdf5, overlay, file, path);
    dataset.set_shape(growth.reduced);
    dataset.close();
  }
  const MappedFile mapped(file.descriptor, overlay.size());
  if (mapped.data() == nullptr) base::throw_system_error(errno, file.path, " cannot be mapped to change a shape");
  OverlayDataset dataset(hdf5, overlay, file, path);
  dataset.set_shape(growth.shape);
  for (const ChunkEntry& chunk : growth.chunks) {
    overlay.direct_next_allocation(chunk.offset, chunk.bytes);
    dataset.add_to_index(chunk, growth.shape.size(), mapped.data() + chunk.offset);
  }
  overlay.end_directing();
  dataset.close();
}

}  // namespace

DatasetGrowth make_growth(const HdfDataset& dataset, const Extents& stored, std::span<const Chunk> changed,
                          const Extents& shape) {
  const Extents grid = dataset.grid();
  const auto dimensions = static_cast<std::ptrdiff_t>(dataset.stored_dimensions());
  DatasetGrowth growth{dataset.path, nullptr, {}, {shape.begin(), shape.begin() + dimensions}, {}};
  Extents reduced = stored;
  bool is_smaller = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == stored[d]) continue;
    is_smaller = is_smaller || shape[d] < stored[d];
    // Round down to whole chunks: chunks that are partly inside one of the shapes must be removed as well.
    const std::int64_t common = std::min(shape[d], stored[d]);
    reduced[d] = common - common % dataset.chunk[d];
  }
  const bool must_remove = is_smaller || std::ranges::any_of(changed, [&](const Chunk& chunk) {
                             return find_in_index(dataset, chunk.number) != nullptr &&
                                    !is_inside(first_element_index(dataset, grid, chunk.number), reduced);
                           });
  const auto add_entry = [&](const Chunk& chunk) {
    Extents first = first_element_index(dataset, grid, chunk.number);
    if (is_inside(first, shape))
      growth.chunks.push_back({std::move(first), chunk.offset, chunk.bytes, chunk.filter_mask});
  };
  for (const Chunk& chunk : changed) add_entry(chunk);
  if (!must_remove) return growth;
  growth.reduced.assign(reduced.begin(), reduced.begin() + dimensions);
  // Setting the reduced shape removes unchanged chunks, too: add them again.
  for (const Chunk& chunk : dataset.chunks)
    if (!is_inside(first_element_index(dataset, grid, chunk.number), reduced) &&
        !std::ranges::binary_search(changed, chunk.number, {}, &Chunk::number))
      add_entry(chunk);
  return growth;
}

bool is_in_index(const HdfDataset& dataset, const Chunk& chunk) {
  const Chunk* const found = find_in_index(dataset, chunk.number);
  return found != nullptr && found->offset == chunk.offset;
}

void update_index(HdfDataset& dataset, std::span<const Chunk> changed, const Extents& shape) {
  // If both lists have a chunk, set_union() takes it from the first one.
  std::vector<Chunk> all_chunks;
  std::ranges::set_union(changed, dataset.chunks, std::back_inserter(all_chunks), {}, &Chunk::number, &Chunk::number);
  const Extents grid = dataset.grid();
  std::erase_if(all_chunks, [&](const Chunk& chunk) {
    return !is_inside(first_element_index(dataset, grid, chunk.number), shape);
  });
  dataset.chunks = std::move(all_chunks);
}

std::int64_t apply_growth(const GrowingFile& file, std::span<const DatasetGrowth> changes) {
  std::optional<Overlay> overlay;
  {
    const Library hdf5;  // holds the library's lock, because the driver of the overlay uses a global variable
    overlay.emplace(file.descriptor, file.free_offset);
    for (const DatasetGrowth& growth : changes) change_dataset(hdf5, *overlay, file, growth);
  }
  if (!write_through_journal(file.descriptor, file.path, overlay->changes()))
    base::throw_system_error(EACCES, file.path,
                             " cannot be changed: its folder permits no new file, and the change needs a "
                             "journal there (",
                             journal_name(file.path), "); the file has its former content; permit new files");
  return overlay->end();
}

base::Rejection growth_rejection(const HdfDataset& dataset) {
  if (!dataset.library_reason.empty())
    return base::Rejection::because("HDF5's library reads its elements (", dataset.library_reason, ')');
  if (dataset.storage != Storage::kChunks)
    return base::Rejection::because("it is ", dataset.storage == Storage::kCompact ? "compact" : "contiguous",
                                    ", and only datasets in chunks grow");
  if (dataset.type.has_texts()) return base::Rejection("its elements are texts of any length");
  if (!dataset.filters_edge_chunks) return base::Rejection("its chunks at the edges have no filters");
  if (dataset.relocation) return dataset.relocation;
  if (std::ranges::equal(dataset.max_shape, dataset.stored_shape.empty() ? dataset.type.shape : dataset.stored_shape))
    return base::Rejection("none of its dimensions is unlimited");
  return {};
}

}  // namespace plait::container::hdf5
