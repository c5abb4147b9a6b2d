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

/// Converts the chunks that the library lists into those of a dataset.
class Listing {
 public:
  /// short_sizes: only 32 bits of a reported size are valid.
  Listing(HdfDataset& dataset, const ChunkCoordinates& coordinates, bool short_sizes)
      : dataset_(dataset), coordinates_(coordinates), short_sizes_(short_sizes) {}

  void add(const hsize_t* first, unsigned filter_mask, haddr_t address, hsize_t bytes) {
    const std::int64_t number = coordinates_.number(first);
    if (number < 0) return;
    if (short_sizes_) bytes &= 0xffffffffU;
    dataset_.chunks.push_back(
        {number, static_cast<std::int64_t>(address), static_cast<std::int64_t>(bytes), filter_mask});
  }
  static int visit(const hsize_t* first, unsigned filter_mask, haddr_t address, hsize_t bytes, void* listing) {
    static_cast<Listing*>(listing)->add(first, filter_mask, address, bytes);
    return 0;
  }

 private:
  HdfDataset& dataset_;
  const ChunkCoordinates& coordinates_;
  const bool short_sizes_;
};

}  // namespace

void HdfFile::describe_file(HdfDataset& description) const {
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  hsize_t user_block = 0;
  H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
  bool persistent = false;
  hsize_t threshold = 0;
  unsigned half = 0;
  if (!creation || hdf5_->H5Pget_userblock(creation.id(), &user_block) < 0 ||
      hdf5_->H5Pget_file_space_strategy(creation.id(), &strategy, &persistent, &threshold) < 0 ||
      hdf5_->H5Pget_istore_k(creation.id(), &half) < 0)
    throw_damaged("the properties of the file");
  if (user_block > 0)
    description.relocation =
        base::Rejection::because("its file begins with a block of ", user_block, " bytes of a user's own");
  if (persistent || strategy == H5F_FSPACE_STRATEGY_PAGE)
    description.relocation = base::Rejection("its file is organized in pages, or says which parts of it are free");
  description.tree_children = 2 * std::int64_t{half};
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
  Listing listing(description, coordinates, !hdf5_.is_at_least(2, 0, 0));
  const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
  hsize_t user_block = 0;
  hdf5_->H5Pget_userblock(creation.id(), &user_block);
  if (user_block > 0 && !hdf5_.is_at_least(2, 0, 0))
    base::throw_argument_error(display_name, ": its file begins with a block of ", user_block,
                               " bytes of a user's own, and ", hdf5_.describe(),
                               " does not say where chunks of such files lie; name HDF5 2.0 or later in PLAIT_HDF5");
  if (hdf5_->H5Dchunk_iter != nullptr) {
    if (hdf5_->H5Dchunk_iter(dataset, 0, Listing::visit, &listing) < 0)
      throw_damaged(text("the index of chunks of ", display_name));
  } else {
    // The releases that need these functions do not accept H5S_ALL.
    const Handle all(hdf5_->H5Dget_space(dataset), hdf5_->H5Sclose);
    hsize_t count = 0;
    if (hdf5_->H5Dget_num_chunks(dataset, all.id(), &count) < 0)
      throw_damaged(text("the index of chunks of ", display_name));
    if (count > kMaxLookups)
      base::throw_argument_error(display_name, ": ", hdf5_.describe(), " takes too long to list its ", count,
                                 " chunks; name HDF5 1.14 or later in PLAIT_HDF5, or install h5py for Python");
    for (hsize_t i = 0; i < count; ++i) {
      std::array<hsize_t, kMaxDimensions> first{};
      unsigned filter_mask = 0;
      haddr_t address = 0;
      hsize_t bytes = 0;
      if (hdf5_->H5Dget_chunk_info(dataset, all.id(), i, first.data(), &filter_mask, &address, &bytes) < 0)
        throw_damaged(text("the index of chunks of ", display_name));
      listing.add(first.data(), filter_mask, address, bytes);
    }
  }
  std::ranges::sort(description.chunks, {}, &Chunk::number);
  const std::int64_t whole = description.chunk_bytes();
  for (std::size_t i = 0; i < description.chunks.size(); ++i) {
    const Chunk& chunk = description.chunks[i];
    std::string problem;
    if (chunk.offset < 0 || chunk.bytes < 0 || chunk.offset > bytes_ || chunk.bytes > bytes_ - chunk.offset)
      problem = text("the file ends at ", bytes_, "; it has been truncated");
    else if (i > 0 && description.chunks[i - 1].number == chunk.number)
      problem = "another one has the same elements";
    else if (description.filters.empty() && chunk.bytes != whole)
      problem = text("it should have ", whole, " bytes");
    if (!problem.empty())
      base::throw_system_error(EIO, display_name, ": ", describe_chunk(description, chunk.number), " is at offset ",
                               chunk.offset, " with ", chunk.bytes, " bytes, but ", problem,
                               "; copy or download the file again");
  }
  if (coordinates.are_corrected()) check_offsets(dataset, description, coordinates, display_name);
}

void HdfFile::check_offsets(hid_t dataset, const HdfDataset& description, const ChunkCoordinates& coordinates,
                            const std::string& display_name) const {
  constexpr std::size_t kSamples = 3;
  constexpr std::int64_t kMaxSampleBytes = std::int64_t{1} << 20U;  // larger chunks are compared by size only
  if (hdf5_->H5Dread_chunk2 == nullptr && hdf5_->H5Dread_chunk == nullptr) return;
  const std::size_t count = description.chunks.size();
  for (std::size_t i = 1; i <= std::min(kSamples, count); ++i) {
    const Chunk& chunk = description.chunks[count * i / std::min(kSamples, count) - 1];
    auto bytes = static_cast<std::size_t>(chunk.bytes);
    const bool compares = chunk.bytes <= kMaxSampleBytes;
    std::vector<std::byte> plait_bytes(compares ? bytes : 0);
    std::vector<std::byte> library_bytes(plait_bytes.size());
    if (compares) store_.read({{chunk.offset, plait_bytes.data(), chunk.bytes}});
    const std::vector<hsize_t> first = coordinates.first(chunk.number);
    hsize_t stored = 0;
    std::uint32_t filter_mask = chunk.filter_mask;
    const bool same_size =
        hdf5_->H5Dget_chunk_storage_size(dataset, first.data(), &stored) >= 0 && stored == hsize_t{bytes};
    if (same_size && compares &&
        (hdf5_->H5Dread_chunk2 != nullptr
             ? hdf5_->H5Dread_chunk2(dataset, 0, first.data(), &filter_mask, library_bytes.data(), &bytes)
             : hdf5_->H5Dread_chunk(dataset, 0, first.data(), &filter_mask, library_bytes.data())) < 0)
      throw_damaged(text(describe_chunk(description, chunk.number), " of ", display_name));
    if (!same_size || filter_mask != chunk.filter_mask || plait_bytes != library_bytes)
      base::throw_system_error(
          EIO, display_name, ": ", hdf5_.describe(), " lists ", describe_chunk(description, chunk.number),
          " at offset ", chunk.offset,
          ", but reads it from elsewhere; close the file where it is written, or copy it by h5repack");
  }
}

}  // namespace plait::container::hdf5
