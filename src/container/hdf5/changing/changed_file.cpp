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

/// Locks the file against programs that open it for writing by the HDF5 library, and against other writers with Plait.
/// If the file system has no locks, simultaneous changes are not detected.
store::posix::Descriptor locked(const std::string& file, const std::string& name) {
  store::posix::Descriptor descriptor = store::posix::open_file(file, O_RDWR);
  const bool is_locked = ::flock(descriptor.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_locked || !store::posix::lock_byte(descriptor.number(), 0, store::posix::Wait::kNo))
    base::throw_system_error(EBUSY, name,
                             ": chunks of its file are being changed, by another program or under another name here; "
                             "close the file there first");
  return descriptor;
}

}  // namespace

ChangedFile::ChangedFile(std::shared_ptr<store::Store> changed, const std::string& name)
    : file_(std::move(changed)),
      lock_(locked(file_->name(), name)),
      path_(std::filesystem::absolute(file_->name()).string()) {
  state_.old_size = file_->size();
}

ChangedFile::~ChangedFile() {
  if (lock_.number() < 0 || state_.old_length == 0) return;
  try {
    // The next program that opens the file applies a left journal, which may refer to the appended bytes.
    if (std::filesystem::exists(journal_name(path_))) return;
    // Cut the file only if no field refers to the appended bytes.
    if (read_number(*file_, state_.fields.length) == state_.old_length && file_->size() > state_.old_size)
      (void)!::ftruncate(lock_.number(), state_.old_size);
  } catch (const std::exception&) {  // harmless: the next program that writes overwrites the bytes
  }
}

}  // namespace plait::container::hdf5
