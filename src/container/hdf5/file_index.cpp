// The chunk index of a dataset, as the HDF5 library lists it.
//
// Problem: Plait reads and writes the bytes of chunks itself, so a wrong offset in the list would return wrong elements
// without an error. The library's function for listing chunks exists in some releases only, reports wrong coordinates
// for some datasets (ChunkCoordinates), and before 2.0 fills only 32 bits of each size.
//
// Idea: all chunks of the list are sorted by number and checked: each is within the file, no number occurs twice, and a
// chunk without filters has exactly the bytes of a whole chunk. If coordinates had to be corrected, check_offsets()
// also reads a few chunks by the library and compares the bytes.
//
// Example: 10 chunks. The three samples are chunks 10*1/3 - 1 = 2, 10*2/3 - 1 = 5 and 10*3/3 - 1 = 9 of the list, so
// that the last chunk, at which errors of the numbering are largest, is always among them.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/chunk_coordinates.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/texts/heap_texts.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Limit for releases without H5Dchunk_iter(). Their H5Dget_chunk_info() walks the index from its first chunk in every
/// call, so that the time is quadratic: 100,000 chunks take a minute.
constexpr hsize_t kMaxLookups = 50'000;

/// Adds the chunks that the library lists to the description of a dataset.
class ChunkCollector {
 public:
  /// has_short_sizes: true if only the lower 32 bits of a reported size are valid.
  ChunkCollector(HdfDataset& dataset, const ChunkCoordinates& coordinates, bool has_short_sizes)
      : dataset_(dataset), coordinates_(coordinates), has_short_sizes_(has_short_sizes) {}

  /// Adds a chunk, unless it is outside the array. first: the reported coordinates of its first element.
  void add(const hsize_t* first, unsigned filter_mask, haddr_t address, hsize_t bytes) {
    const std::int64_t number = coordinates_.to_number(first);
    if (number < 0) return;
    if (has_short_sizes_) bytes &= 0xffffffffU;
    dataset_.chunks.push_back(
        {number, static_cast<std::int64_t>(address), static_cast<std::int64_t>(bytes), filter_mask});
  }
  /// The callback of H5Dchunk_iter().
  static int add_listed(const hsize_t* first, unsigned filter_mask, haddr_t address, hsize_t bytes, void* collector) {
    static_cast<ChunkCollector*>(collector)->add(first, filter_mask, address, bytes);
    return 0;
  }

 private:
  HdfDataset& dataset_;
  const ChunkCoordinates& coordinates_;
  const bool has_short_sizes_;
};

}  // namespace

void HdfFile::describe_file(HdfDataset& description) const {
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  hsize_t user_block = 0;
  H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
  bool records_free_space = false;
  hsize_t threshold = 0;       // not used
  unsigned half_children = 0;  // HDF5 states half of the maximum number of children of a node
  if (!creation || hdf5_->H5Pget_userblock(creation.id(), &user_block) < 0 ||
      hdf5_->H5Pget_file_space_strategy(creation.id(), &strategy, &records_free_space, &threshold) < 0 ||
      hdf5_->H5Pget_istore_k(creation.id(), &half_children) < 0)
    throw_damaged("the properties of the file");
  if (user_block > 0)
    description.relocation =
        base::Rejection::because("its file begins with a block of ", user_block, " bytes of a user's own");
  if (records_free_space || strategy == H5F_FSPACE_STRATEGY_PAGE)
    description.relocation = base::Rejection("its file is organized in pages, or says which parts of it are free");
  description.tree_children = 2 * std::int64_t{half_children};
}

void HdfFile::describe_texts(hid_t type, hid_t properties, HdfDataset& description) const {
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  hsize_t user_block = 0;
  std::size_t address_bytes = 0;
  std::size_t length_bytes = 0;
  if (!creation || hdf5_->H5Pget_userblock(creation.id(), &user_block) < 0 ||
      hdf5_->H5Pget_sizes(creation.id(), &address_bytes, &length_bytes) < 0)
    throw_damaged("the properties of the file");
  description.heap_base = static_cast<std::int64_t>(user_block);
  description.fill.assign(static_cast<std::size_t>(ArrayType::kTextBytes), std::byte{0});
  if (address_bytes != 8 || length_bytes != 8)
    description.rejection = base::Rejection("its file has addresses of less than 8 bytes; copy it by h5repack");
  else if (description.storage == Storage::kCompact)
    description.rejection = base::Rejection("its texts are stored in its description (compact); copy it by h5repack");
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  if (hdf5_->H5Pfill_value_defined(properties, &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED) return;
  char* fill = nullptr;
  if (hdf5_->H5Pget_fill_value(properties, type, static_cast<void*>(&fill)) < 0) {
    description.rejection = base::Rejection("its fill value cannot be read");
  } else if (fill != nullptr) {
    description.missing_text = fill;
    hdf5_->H5free_memory(fill);
    if (!description.missing_text.empty()) description.fill = missing_text_element();
  }
}

void HdfFile::read_fill(hid_t type, hid_t properties, HdfDataset& description) const {
  description.fill.assign(hdf5_->H5Tget_size(type), std::byte{0});
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  description.has_own_fill =
      hdf5_->H5Pfill_value_defined(properties, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED;
  if (description.has_own_fill && hdf5_->H5Pget_fill_value(properties, type, description.fill.data()) < 0)
    description.rejection = base::Rejection("its fill value cannot be read");
  description.pad_with_null(description.fill);
}

void HdfFile::read_index(hid_t dataset, HdfDataset& description, const std::string& display_name) const {
  const ChunkCoordinates coordinates(hdf5_, dataset, description);
  ChunkCollector collector(description, coordinates, /*has_short_sizes=*/!hdf5_.is_at_least(2, 0, 0));
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  hsize_t user_block = 0;
  hdf5_->H5Pget_userblock(creation.id(), &user_block);
  if (user_block > 0 && !hdf5_.is_at_least(2, 0, 0))
    base::throw_argument_error(display_name, ": its file begins with a block of ", user_block,
                               " bytes of a user's own, and ", hdf5_.describe(),
                               " does not say where chunks of such files lie; name HDF5 2.0 or later in PLAIT_HDF5");
  if (hdf5_->H5Dchunk_iter != nullptr) {
    if (hdf5_->H5Dchunk_iter(dataset, 0, ChunkCollector::add_listed, &collector) < 0)
      throw_damaged(text("the index of chunks of ", display_name));
  } else {
    // The releases that need these functions do not accept H5S_ALL.
    const Handle whole_space(hdf5_->H5Dget_space(dataset), hdf5_->H5Sclose);
    hsize_t count = 0;
    if (hdf5_->H5Dget_num_chunks(dataset, whole_space.id(), &count) < 0)
      throw_damaged(text("the index of chunks of ", display_name));
    if (count > kMaxLookups)
      base::throw_argument_error(display_name, ": ", hdf5_.describe(), " takes too long to list its ", count,
                                 " chunks; name HDF5 1.14 or later in PLAIT_HDF5, or install h5py for Python");
    for (hsize_t i = 0; i < count; ++i) {
      std::array<hsize_t, kMaxDimensions> first{};
      unsigned filter_mask = 0;
      haddr_t address = 0;
      hsize_t bytes = 0;
      if (hdf5_->H5Dget_chunk_info(dataset, whole_space.id(), i, first.data(), &filter_mask, &address, &bytes) < 0)
        throw_damaged(text("the index of chunks of ", display_name));
      collector.add(first.data(), filter_mask, address, bytes);
    }
  }
  std::ranges::sort(description.chunks, {}, &Chunk::number);
  const std::int64_t chunk_bytes = description.chunk_bytes();
  for (std::size_t i = 0; i < description.chunks.size(); ++i) {
    const Chunk& chunk = description.chunks[i];
    std::string problem;
    if (chunk.offset < 0 || chunk.bytes < 0 || chunk.offset > file_bytes_ || chunk.bytes > file_bytes_ - chunk.offset)
      problem = text("the file ends at ", file_bytes_, "; it has been truncated");
    else if (i > 0 && description.chunks[i - 1].number == chunk.number)
      problem = "another one has the same elements";
    else if (description.filters.empty() && chunk.bytes != chunk_bytes)
      problem = text("it should have ", chunk_bytes, " bytes");
    if (!problem.empty())
      base::throw_system_error(EIO, display_name, ": ", describe_chunk(description, chunk.number), " is at offset ",
                               chunk.offset, " with ", chunk.bytes, " bytes, but ", problem,
                               "; copy or download the file again");
  }
  if (coordinates.are_corrected()) check_offsets(dataset, description, coordinates, display_name);
}

void HdfFile::check_offsets(hid_t dataset, const HdfDataset& description, const ChunkCoordinates& coordinates,
                            const std::string& display_name) const {
  constexpr std::size_t kMaxSamples = 3;
  constexpr std::int64_t kMaxSampleBytes = std::int64_t{1} << 20U;  // larger chunks are compared by size only
  if (hdf5_->H5Dread_chunk2 == nullptr && hdf5_->H5Dread_chunk == nullptr) return;
  const std::size_t count = description.chunks.size();
  const std::size_t samples = std::min(kMaxSamples, count);
  for (std::size_t i = 1; i <= samples; ++i) {
    const Chunk& chunk = description.chunks[count * i / samples - 1];
    auto bytes = static_cast<std::size_t>(chunk.bytes);
    const bool compares_bytes = chunk.bytes <= kMaxSampleBytes;
    std::vector<std::byte> plait_bytes(compares_bytes ? bytes : 0);
    std::vector<std::byte> library_bytes(plait_bytes.size());
    if (compares_bytes) store_.read({{chunk.offset, plait_bytes.data(), chunk.bytes}});
    const std::vector<hsize_t> first = coordinates.to_first_element(chunk.number);
    hsize_t stored_size = 0;
    std::uint32_t filter_mask = chunk.filter_mask;
    const bool has_same_size =
        hdf5_->H5Dget_chunk_storage_size(dataset, first.data(), &stored_size) >= 0 && stored_size == hsize_t{bytes};
    if (has_same_size && compares_bytes &&
        (hdf5_->H5Dread_chunk2 != nullptr
             ? hdf5_->H5Dread_chunk2(dataset, 0, first.data(), &filter_mask, library_bytes.data(), &bytes)
             : hdf5_->H5Dread_chunk(dataset, 0, first.data(), &filter_mask, library_bytes.data())) < 0)
      throw_damaged(text(describe_chunk(description, chunk.number), " of ", display_name));
    if (!has_same_size || filter_mask != chunk.filter_mask || plait_bytes != library_bytes)
      base::throw_system_error(
          EIO, display_name, ": ", hdf5_.describe(), " lists ", describe_chunk(description, chunk.number),
          " at offset ", chunk.offset,
          ", but reads it from elsewhere; close the file where it is written, or copy it by h5repack");
  }
}

}  // namespace plait::container::hdf5
