// Opening files, and the errors of requests.
//
// An ordinary file is opened by its name, and compared with the file that Plait has open. A file in an object store is
// opened by RangeFile. The library hides the errors of its requests: it calls a file damaged, or does without an
// attribute that it could not read. All functions that read the file therefore end with the check of RangeFile.
//
// Example: the server answers the request for the attributes of x with status 403. The library reports that x has no
// attributes, and list_datasets() fails with the server's answer.

#include <cerrno>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/writing/new_content.hpp"
#include "plait/error.hpp"
#include "store/posix/identity.hpp"

namespace plait::container::hdf5 {

namespace {

/// Checks that the store is an ordinary file, which the library can open by its path.
void check_ordinary(const store::Store& store, const std::string& path) {
  if (!store.file_identity())
    base::throw_argument_error(path, ": HDF5 files are read where they are ordinary files; copy it to one");
}

/// Calls a function that reads a file, and returns its result. Errors of requests replace those of the library.
/// file: the file in an object store; nullptr for an ordinary file.
template <typename Read>
auto read_with_request_errors(const RangeFile* file, const Read& read) {
  try {
    auto result = read();
    check_requests(file);
    return result;
  } catch (const Error&) {
    check_requests(file);  // a failed request is the true cause of the library's error
    throw;
  }
}

}  // namespace

HdfFile::HdfFile(store::Store& store, const std::string& path, Access access)
    : store_(store), path_(path), file_bytes_(store.size()) {
  if (store.object_identity()) {
    ranges_ = std::make_unique<RangeFile>(store);
    file_ = ranges_->open(hdf5_, path_);
    finish_opening(follow_rule());
    ranges_->check();
    return;
  }
  check_ordinary(store, path);
  const bool is_changing = access == Access::kChanging;
  // A file is changed at the end, when the working directory may differ from the one at opening: use the whole path.
  const std::string& opened_path = is_changing ? path : store.name();
  recover_from_journal(opened_path);
  file_bytes_ = store.size();  // the journal may have changed it
  file_ = Handle(hdf5_->H5Fopen(opened_path.c_str(), is_changing ? kReadWrite : kReadOnly, 0), hdf5_->H5Fclose);
  if (!file_)
    base::throw_system_error(EIO, path, " cannot be opened as an HDF5 file by ", hdf5_.describe(), hdf5_.last_error(),
                             "; copy or download it again, or close it where it is written");
  void* descriptor = nullptr;
  hdf5_->H5Fget_vfd_handle(file_.id(), 0, &descriptor);
  if (descriptor == nullptr)
    base::throw_system_error(EIO, path, " is not opened as a file by ", hdf5_.describe(), "; unset HDF5_DRIVER");
  descriptor_ = *static_cast<int*>(descriptor);
  // The library may have opened another file than `store`: a driver may use another name, or the file may be a new one.
  store::posix::check_not_replaced(descriptor_, *store.file_identity(), path);
  unsigned intent = 0;
  if (!is_changing && hdf5_->H5Fget_intent(file_.id(), &intent) >= 0 && (intent & kReadWrite) != 0)
    base::throw_system_error(EBUSY, path,
                             " is open for writing in this process, so that what is in it may not be in the file yet; "
                             "close it first");
  finish_opening(is_changing ? FollowRule::kNone : follow_rule());
}

void HdfFile::finish_opening(FollowRule rule) {
  links_ = std::make_unique<ExternalLinks>(hdf5_, rule);
  if (!*links_) throw_damaged("its links");
  const Handle root(hdf5_->H5Oopen(file_.id(), "/", 0), hdf5_->H5Oclose);
  const std::optional<Library::Location> location = hdf5_.location(root.id());
  file_number_ = location ? location->file : 0;
  is_netcdf_ = is_netcdf_name(path_) || hdf5_->H5Aexists(root.id(), "_NCProperties") > 0;
}

void HdfFile::throw_damaged(const std::string& what) const {
  base::throw_system_error(EIO, path_, ": ", what, " cannot be read", hdf5_.last_error(),
                           "; copy or download the file again");
}

RecordCounts HdfFile::record_counts() const {
  return ranges_ ? RecordCounts(ranges_->identity()) : RecordCounts(descriptor_);
}

std::int64_t HdfFile::stored_bytes(hid_t dataset, hid_t properties, std::size_t dimensions) const {
  if (ranges_ && hdf5_->H5Pget_layout(properties) == H5D_CHUNKED) {
    if (is_listing_) return -1;
    const Handle creation(hdf5_->H5Fget_create_plist(file_.id()), hdf5_->H5Pclose);
    unsigned half_children = 0;  // HDF5 states half of the maximum number of children of a node
    if (!creation || hdf5_->H5Pget_istore_k(creation.id(), &half_children) < 0)
      throw_damaged("the properties of the file");
    const std::optional<Library::Location> location = hdf5_.location(dataset);
    if (!location) throw_damaged("an object");
    ranges_->prefetch_index({static_cast<std::int64_t>(location->address), static_cast<std::int64_t>(dimensions),
                             2 * std::int64_t{half_children}});
  }
  return static_cast<std::int64_t>(hdf5_->H5Dget_storage_size(dataset));
}

std::vector<NamedDataset> HdfFile::list_datasets(std::string_view group) {
  return read_with_request_errors(ranges_.get(), [&] { return list_datasets_unchecked(group); });
}

bool HdfFile::lacks(std::string_view name) const {
  while (name.starts_with('/')) name.remove_prefix(1);
  return read_with_request_errors(ranges_.get(), [&] {
    return !open_object(base::text('/', name), base::text(path_, "::", name)) && !open_array(name).first;
  });
}

HdfDataset HdfFile::describe_dataset(std::string_view name) {
  return read_with_request_errors(ranges_.get(), [&] { return describe_dataset_unchecked(name); });
}

}  // namespace plait::container::hdf5
