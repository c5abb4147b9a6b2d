// Which datasets the HDF5 library reads.
//
// Problem: Plait finds the bytes of contiguous and chunked datasets in the file and decodes them itself, on all ranks
// at once. It cannot do so if it does not know a filter or the type of elements, or if the elements are in other files.
//
// Idea: HdfDataset::library_reason lists the reasons, and LibraryStore reads such a dataset by the library. Virtual
// datasets get the chunks of their first source, so that a window contains whole chunks of the sources.
//
// Example: a virtual dataset of shape (365, 721, 1440) whose sources, one a day, have shape (721, 1440) and chunks
// (103, 180) of 4-byte elements. The chunk (1, 103, 180) has 74,160 bytes, which is less than kMinChunkBytes; doubling
// the last dimension twice makes it (1, 103, 720) with 296,640 bytes, so that a call of the library reads enough.

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/library_copy/object_copier.hpp"
#include "container/hdf5/library_read/sources.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::int64_t kMinChunkBytes = std::int64_t{256} << 10U;

/// Divides a dataset that has no chunks into chunks for windows: those of a source, enlarged to at least kMinChunkBytes
/// if the dataset has so many.
void divide_into_chunks(HdfDataset& description, const Extents& source_chunk) {
  const Extents& shape = description.type.shape;
  if (source_chunk.empty() || shape.empty()) return;
  Extents chunk(shape.size(), 1);
  // A source may have fewer dimensions: its chunk gives the last extents.
  for (std::size_t i = 1; i <= std::min(source_chunk.size(), shape.size()); ++i)
    chunk[chunk.size() - i] = source_chunk[source_chunk.size() - i];
  for (std::size_t d = 0; d < chunk.size(); ++d)
    chunk[d] = std::clamp<std::int64_t>(chunk[d], 1, std::max<std::int64_t>(shape[d], 1));
  const auto bytes = [&] {
    return array_bytes(chunk, description.type.element_bytes).value_or(kMaxFilteredChunkBytes + 1);
  };
  for (std::size_t d = chunk.size(); d-- > 0;)
    while (bytes() < kMinChunkBytes && chunk[d] < shape[d]) chunk[d] = std::min(2 * chunk[d], shape[d]);
  if (bytes() > kMaxFilteredChunkBytes) return;
  HdfDataset divided;
  divided.type = description.type;
  divided.chunk = chunk;
  if (!divided.chunks_fit()) return;
  description.chunk = std::move(chunk);
  description.storage = Storage::kChunks;
}

}  // namespace

void HdfFile::choose_reader(hid_t dataset, hid_t properties, bool is_outside, HdfDataset& description) const {
  if (description.rejection) return;
  // An external link may have led to another file, so ask the library for its name.
  const auto file_name = [&] {
    return read_text([&](char* into, std::size_t n) { return hdf5_->H5Fget_name(dataset, into, n); });
  };
  const bool is_virtual = hdf5_->H5Pget_layout(properties) == H5D_VIRTUAL;
  if (is_virtual || hdf5_->H5Pget_external_count(properties) > 0) {
    const SourceFiles files = is_virtual ? find_virtual_sources(hdf5_, dataset, properties, file_name())
                                         : find_storage_files(hdf5_, properties, file_name());
    description.rejection = files.rejection;
    if (!files.rejection) add_library_reason(description, files.description);
    description.storage = Storage::kLibrary;
    divide_into_chunks(description, files.chunk);
  }
  if (is_outside)
    add_library_reason(description,
                       base::text("external link to ", std::filesystem::path(file_name()).filename().string()));
  // describe() reads compact elements by the library anyway, and unwritten ones are all equal to the fill value.
  if (description.storage == Storage::kCompact || description.storage == Storage::kNone)
    description.library_reason.clear();
  if (description.storage == Storage::kContiguous && !description.library_reason.empty())
    description.storage = Storage::kLibrary;
}

void HdfFile::choose_copier(hid_t dataset, const std::string& reason, bool is_outside, HdfDataset& description) const {
  if (is_outside || (reason.empty() && !description.is_null)) return;
  const Handle type(hdf5_->H5Dget_type(dataset), hdf5_->H5Tclose);
  const Handle properties(hdf5_->H5Dget_create_plist(dataset), hdf5_->H5Pclose);
  if (!type || !properties || !is_copyable(hdf5_, type.id(), properties.id())) return;
  description.copy_reason = description.is_null ? "it has no elements (a null dataspace)" : reason;
  if (!description.is_null)
    description.rejection = base::Rejection::because(
        reason, ", which Plait does not read; use h5py for it, or copy it to another HDF5 file");
}

}  // namespace plait::container::hdf5
