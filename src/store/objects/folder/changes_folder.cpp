#include "store/objects/folder/changes_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/process.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/temporary.hpp"

namespace plait::store::folder {

namespace {

namespace fs = std::filesystem;
using base::text;
using posix::Descriptor;
using posix::open_file;
using posix::system_error;

constexpr mode_t kPermissions = 07777;

std::string changes_in(const std::string& root) { return text(root, '/', kChanges); }

/// Gives a folder the permissions of the root, so that all users who may change objects can do so at the same time.
void copy_permissions(const std::string& root, const std::string& folder) {
  struct stat found{};
  if (::stat(root.c_str(), &found) == 0) ::chmod(folder.c_str(), found.st_mode & kPermissions);
}

}  // namespace

void ChangesFolder::make_folder() {
  static std::atomic<int> counter{0};
  // A new folder without its lock looks like one of an earlier process with this number, so another thread must wait.
  static base::PerProcess<std::mutex> mutex;
  const std::scoped_lock one_at_a_time(mutex.get());
  const std::string all = changes_in(root_);
  const std::string prefix = posix::temporary_prefix("chunks", root_);
  while (folder_.empty()) {
    if (::mkdir(all.c_str(), 0777) == 0)
      copy_permissions(root_, all);
    else if (errno != EEXIST)
      throw system_error(text("make a folder for the changes of ", root_), errno);
    const std::string own = text(all, '/', prefix, ::getpid(), '-', counter++);
    if (::mkdir(own.c_str(), 0777) == 0) {
      folder_ = own;
    } else if (errno != EEXIST && errno != ENOENT) {  // another process has just removed the folder around it
      throw system_error(text("make a folder for the changes of ", root_), errno);
    }
  }
  lock_ = open_file(folder_, O_RDONLY | O_DIRECTORY, 0, root_);
  (void)posix::lock_at_once(lock_.number(), root_);
  if (cleaned_) return;
  cleaned_ = true;
  const auto remove = [this](const std::string& left) {
    std::error_code ignored;
    if (left != folder_) fs::remove_all(left, ignored);
  };
  posix::remove_stale(all, prefix, remove);
  struct stat made{};  // made just now, so its time is the present time of the file system
  if (::fstat(lock_.number(), &made) == 0)
    posix::remove_abandoned(all, posix::without_host(prefix), made.st_mtime, remove);
}

ChangesFolder::CreatedFile ChangesFolder::make(const std::string& file) {
  std::string made;
  {
    const std::scoped_lock lock(mutex_);
    if (folder_.empty()) make_folder();
    made = text(folder_, '/', next_++);
    ++used_;
  }
  try {
    Descriptor empty = open_file(made, O_RDWR | O_CREAT | O_EXCL);
    struct stat old{};
    if (::stat(file.c_str(), &old) == 0) ::fchmod(empty.number(), old.st_mode & kPermissions);
    return {std::move(made), std::move(empty)};
  } catch (...) {
    release();
    throw;
  }
}

void ChangesFolder::release() noexcept {
  const std::scoped_lock lock(mutex_);
  --used_;
}

void ChangesFolder::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  remove();
}

void ChangesFolder::clear_unused() noexcept {
  const std::scoped_lock lock(mutex_);
  if (used_ == 0) remove();
}

void ChangesFolder::remove() noexcept {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  ::rmdir(changes_in(root_).c_str());  // succeeds for the last process
  folder_.clear();
  lock_.close();
}

}  // namespace plait::store::folder
