// Changing attributes so that a kill leaves either the former values or the changed ones.
//
// The HDF5 library changes the attributes in a copy-on-write image of the file (PrivateImage). A journal then applies
// the bytes that differ.

#include "container/hdf5/changing/attribute_changes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/changing/file_locking.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/hdf5/changing/private_image.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/temporary.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::posix::Descriptor;

/// Changes attributes in a private image. Returns the bytes that differ; nothing if the file cannot be mapped, or if
/// each trial changed pages that no former trial had changed.
std::optional<FilePatch> change_in_image(store::Store& store, const std::string& path, int file,
                                         const std::string& dataset, const AttributeChanges& changes) {
  constexpr int kMaxTrials = 8;
  struct stat info{};
  if (::fstat(file, &info) != 0) return {};
  const Library hdf5;  // holds the library's lock while the image exists, whose callbacks use global variables
  PrivateImage image(file, info.st_size);
  if (!image.is_usable()) return {};
  for (int i = 0; i < kMaxTrials; ++i) {
    if (!image.reset()) return {};
    HdfFile(store, path, image).change_attributes(dataset, changes);
    if (image.check_exact()) return image.changes();
  }
  return {};
}

}  // namespace

Descriptor lock_for_attributes(store::Store& store, const std::string& path) {
  Descriptor file = store::posix::open_file(path, O_RDWR);
  if (const auto identity = store.file_identity()) store::posix::check_not_replaced(file.number(), *identity, path);
  if (uses_file_locks() && !store::posix::lock_at_once(file.number(), path))
    base::throw_system_error(
        EBUSY, path,
        " cannot be opened to change attributes, because another program has it open; close it there, and "
        "change them again");
  return file;
}

void change_stored_attributes(store::Store& store, const std::string& path, const std::string& dataset,
                              const AttributeChanges& changes) {
  recover_from_journal(path);
  {
    const Descriptor file = lock_for_attributes(store, path);
    const auto patch = change_in_image(store, path, file.number(), dataset, changes);
    if (patch && write_through_journal(file.number(), path, *patch)) return;
  }  // unlocks the file, because the library locks it itself
  HdfFile(store, path, HdfFile::Access::kChanging).change_attributes(dataset, changes);
}

}  // namespace plait::container::hdf5
