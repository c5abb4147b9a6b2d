// Reading boxes of elements by the HDF5 library.

#include "container/hdf5/library_read/library_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/element.hpp"
#include "store/posix/identity.hpp"

namespace plait::container::hdf5 {

LibraryReader::LibraryReader(std::shared_ptr<store::Store> file, const HdfDataset& dataset, std::string name)
    : file_(std::move(file)),
      path_(dataset.path),
      name_(std::move(name)),
      file_path_(std::filesystem::absolute(file_->name()).string()),
      element_bytes_(dataset.type.element_bytes),
      is_chunked_(dataset.storage == Storage::kChunks) {}

LibraryReader::~LibraryReader() {
  if (!handles_) return;
  try {
    const Library hdf5;
    handles_.reset();
  } catch (...) {
    // The process is exiting, and the lock of the library has already been destroyed: leave the file open.
    [[maybe_unused]] OpenHandles* const left_open = handles_.release();
  }
}

void LibraryReader::fail(const Library& hdf5, const std::string& what) const {
  base::throw_system_error(EIO, name_, ": ", hdf5.describe(), " cannot read ", what, hdf5.last_error(),
                           "; check the plug-in of the filter, or copy or download the file again");
}

void LibraryReader::open(const Library& hdf5) {
  hdf5.add_plugins();
  auto opened = std::make_unique<OpenHandles>();  // stored only once all of it has been opened
  if (file_->object_identity()) {
    opened->ranges = std::make_unique<RangeFile>(*file_);
    opened->file = opened->ranges->open(hdf5, name_);
  } else {
    opened->file = Handle(hdf5->H5Fopen(file_path_.c_str(), kReadOnly, 0), hdf5->H5Fclose);
    void* descriptor = nullptr;
    if (opened->file) hdf5->H5Fget_vfd_handle(opened->file.id(), 0, &descriptor);
    if (descriptor == nullptr) fail(hdf5, "the file");
    store::posix::check_not_replaced(*static_cast<int*>(descriptor), *file_->file_identity(), name_);
  }
  const RangeFile* const ranges = opened->ranges.get();
  const Handle access(hdf5->H5Pcreate(hdf5->H5P_CLS_DATASET_ACCESS_ID_g), hdf5->H5Pclose);
  // Each chunk is read once, as a whole, so that a chunk cache would only cost memory.
  if (is_chunked_) hdf5->H5Pset_chunk_cache(access.id(), 1, 0, 1.0);
  // Relative names of files in external storage are relative to the folder of this file.
  hdf5->H5Pset_efile_prefix(access.id(), "${ORIGIN}");
  opened->dataset = Handle(hdf5->H5Dopen2(opened->file.id(), ("/" + path_).c_str(), access.id()), hdf5->H5Dclose);
  check_requests(ranges);
  if (!opened->dataset) fail(hdf5, "the dataset");
  opened->space = Handle(hdf5->H5Dget_space(opened->dataset.id()), hdf5->H5Sclose);
  const Handle type(hdf5->H5Dget_type(opened->dataset.id()), hdf5->H5Tclose);
  const Element element = to_element(hdf5, type.id());
  opened->type = make_memory_type(hdf5, type.id(), element.dtype, !element.conversion.empty());
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int count = hdf5->H5Sget_simple_extent_dims(opened->space.id(), extents.data(), nullptr);
  check_requests(ranges);
  if (!opened->type || count < 0) fail(hdf5, "the description of the dataset");
  if (hdf5->H5Tget_size(opened->type.id()) != static_cast<std::size_t>(element_bytes_))
    base::throw_system_error(EIO, name_, " has elements of another size than when it was opened; open it again");
  opened->shape.assign(extents.begin(), extents.begin() + count);
  handles_ = std::move(opened);
}

void LibraryReader::read(const LibraryBox& box, std::byte* into) {
  const Library hdf5;
  if (handles_ && handles_->ranges && handles_->ranges->has_failed()) handles_.reset();
  if (!handles_) open(hdf5);
  const Extents& shape = handles_->shape;
  if (shape.size() != box.first.size())
    base::throw_system_error(EIO, name_, " has ", shape.size(), " dimensions now, and had ", box.first.size(),
                             " when it was opened; open it again");
  std::vector<hsize_t> first;
  std::vector<hsize_t> count;
  std::vector<hsize_t> memory_extents;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t length = std::min(box.count[d], shape[d] - box.first[d]);
    if (length <= 0) return;  // the box is outside the shape in the file
    first.push_back(static_cast<hsize_t>(box.first[d]));
    count.push_back(static_cast<hsize_t>(length));
    memory_extents.push_back(static_cast<hsize_t>(box.extents[d]));
  }
  const hid_t file_space = handles_->space.id();
  const Handle memory_space(
      hdf5->H5Screate_simple(static_cast<int>(memory_extents.size()), memory_extents.data(), nullptr), hdf5->H5Sclose);
  bool is_selected = true;
  if (!shape.empty()) {
    const std::vector<hsize_t> origin(shape.size());
    is_selected =
        hdf5->H5Sselect_hyperslab(file_space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) >= 0 &&
        hdf5->H5Sselect_hyperslab(memory_space.id(), H5S_SELECT_SET, origin.data(), nullptr, count.data(), nullptr) >=
            0;
  }
  // A scalar dataset has one element: both selections are H5S_ALL, which is 0.
  const hid_t from = shape.empty() ? 0 : file_space;
  const hid_t to = shape.empty() ? 0 : memory_space.id();
  const bool is_read =
      is_selected && hdf5->H5Dread(handles_->dataset.id(), handles_->type.id(), to, from, 0, into) >= 0;
  check_requests(handles_->ranges.get());
  if (!is_read) fail(hdf5, base::text("the elements from ", base::tuple_text(box.first), " on"));
}

}  // namespace plait::container::hdf5
