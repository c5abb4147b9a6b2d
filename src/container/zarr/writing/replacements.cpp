#include "container/zarr/writing/replacements.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/process.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/temporary.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::posix::Descriptor;
using store::posix::open_file;
using store::posix::system_error;

constexpr mode_t kPermissions = 07777;

std::string folder_of_changes(const std::string& array) { return array + "/.plait-changes"; }

/// Who may change the array may make changes beside those of other users.
void allow_the_same(const std::string& array, const std::string& folder) {
  struct stat found{};
  if (::stat(array.c_str(), &found) == 0) ::chmod(folder.c_str(), found.st_mode & kPermissions);
}

}  // namespace

void Replacements::make_folder() {
  static std::atomic<int> counter{0};
  // Without its lock, what one thread makes would look to another one like what a process of this number has left.
  static base::PerProcess<std::mutex> mutex;
  const std::scoped_lock one_at_a_time(mutex.get());
  const std::string all = folder_of_changes(array_);
  const std::string prefix = store::posix::temporary_prefix("chunks", array_);
  while (folder_.empty()) {
    if (::mkdir(all.c_str(), 0777) == 0)
      allow_the_same(array_, all);
    else if (errno != EEXIST)
      throw system_error(text("make a folder for the changes of ", array_), errno);
    const std::string own = text(all, '/', prefix, ::getpid(), '-', counter++);
    if (::mkdir(own.c_str(), 0777) == 0) {
      folder_ = own;
    } else if (errno != EEXIST && errno != ENOENT) {  // another one has just removed the folder around it
      throw system_error(text("make a folder for the changes of ", array_), errno);
    }
  }
  lock_ = open_file(folder_, O_RDONLY | O_DIRECTORY, 0, array_);
  (void)store::posix::lock_at_once(lock_.number(), array_);
  if (looked_) return;
  looked_ = true;
  const auto remove = [this](const std::string& left) {
    std::error_code ignored;
    if (left != folder_) fs::remove_all(left, ignored);
  };
  store::posix::remove_stale(all, prefix, remove);
  struct stat made{};  // a moment ago, so its time is the file system's present time
  if (::fstat(lock_.number(), &made) == 0)
    store::posix::remove_abandoned(all, store::posix::without_host(prefix), made.st_mtime, remove);
}

std::string Replacements::make(const std::string& file) {
  std::string made;
  {
    const std::scoped_lock lock(mutex_);
    if (folder_.empty()) make_folder();
    made = text(folder_, '/', next_++);
  }
  const Descriptor empty = open_file(made, O_WRONLY | O_CREAT | O_EXCL);
  struct stat old{};
  if (::stat(file.c_str(), &old) == 0) ::fchmod(empty.number(), old.st_mode & kPermissions);
  return made;
}

void Replacements::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  ::rmdir(folder_of_changes(array_).c_str());  // the last one
  folder_.clear();
  lock_.close();
}

NamingLocks::NamingLocks(const std::string& metadata) : metadata_(::open(metadata.c_str(), O_RDWR | O_CLOEXEC)) {}

NamingLocks::Held::Held(const NamingLocks& locks, std::int64_t number) : locks_(locks), number_(number) {
  if (locks.metadata_.number() >= 0)
    (void)store::posix::lock_byte(locks.metadata_.number(), number, store::posix::Wait::kYes);
}

NamingLocks::Held::~Held() {
  if (locks_.metadata_.number() >= 0) store::posix::unlock_byte(locks_.metadata_.number(), number_);
}

}  // namespace plait::container::zarr
