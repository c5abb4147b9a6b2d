// Locking the file of a changed dataset, and cutting off bytes whose commit has failed.

#include "container/hdf5/changing/changed_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>

#include "base/errors.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "store/posix/byte_lock.hpp"

namespace plait::container::hdf5 {

namespace {

/// Opens the file with two locks: a shared flock(), which excludes programs that open the file for writing by the HDF5
/// library, and an exclusive lock of byte 0, which excludes other writers with Plait. If the file system has no locks,
/// simultaneous changes are not detected.
store::posix::Descriptor open_locked(const std::string& file, const std::string& name) {
  store::posix::Descriptor descriptor = store::posix::open_file(file, O_RDWR);
  const bool is_locked_elsewhere = ::flock(descriptor.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_locked_elsewhere || !store::posix::lock_byte(descriptor.number(), 0, store::posix::Wait::kNo))
    base::throw_system_error(EBUSY, name,
                             ": chunks of its file are being changed, by another program or under another name here; "
                             "close the file there first");
  return descriptor;
}

}  // namespace

ChangedFile::ChangedFile(std::shared_ptr<store::Store> changed, const std::string& name)
    : file_(std::move(changed)),
      lock_(open_locked(file_->name(), name)),
      path_(std::filesystem::absolute(file_->name()).string()) {
  state_.old_size = file_->size();
}

ChangedFile::~ChangedFile() {
  if (lock_.number() < 0 || state_.old_length == 0) return;  // nothing has been appended
  try {
    // A journal that is still there may refer to the appended bytes. The next program that opens the file applies it.
    if (std::filesystem::exists(journal_name(path_))) return;
    // If the superblock still states the former length, the changes have not been committed.
    if (read_number(*file_, state_.fields.length) == state_.old_length && file_->size() > state_.old_size)
      (void)!::ftruncate(lock_.number(), state_.old_size);
  } catch (const std::exception&) {  // harmless: the next program that writes overwrites the bytes
  }
}

}  // namespace plait::container::hdf5
