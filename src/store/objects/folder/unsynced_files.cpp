#include "store/objects/folder/unsynced_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace plait::store::folder {

namespace fs = std::filesystem;

void sync_file(const std::string& file) { posix::PosixStore(file, posix::PosixStore::Access::kReadWrite).sync(); }

void sync_file_system(const std::string& folder) {
  const posix::Descriptor opened = posix::open_file(folder, O_RDONLY | O_DIRECTORY);
  if (::syncfs(opened.number()) != 0) throw posix::system_error(base::text("sync ", folder), errno);
}

void UnsyncedFiles::add(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  if (many_ || std::ranges::find(files_, file) != files_.end()) return;
  files_.push_back(file);
  count();
}

void UnsyncedFiles::add_name(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  if (many_) return;
  folders_.insert(fs::path(file).parent_path().string());
  count();
}

void UnsyncedFiles::count() {
  if (files_.size() <= kMaxSynced && folders_.size() <= kMaxSynced) return;
  many_ = true;
  files_.clear();
  folders_.clear();
}

bool UnsyncedFiles::empty() {
  const std::scoped_lock lock(mutex_);
  return !many_ && files_.empty() && folders_.empty();
}

void UnsyncedFiles::sync() {
  std::vector<std::string> files;
  std::set<std::string> names;
  bool many = false;
  {
    const std::scoped_lock lock(mutex_);
    files = std::exchange(files_, {});
    names = std::exchange(folders_, {});
    many = std::exchange(many_, false);
  }
  if (many) return sync_file_system(root_);
  std::set<std::string> folders;
  const auto add = [&](fs::path at) {
    while (folders.insert(at.string()).second && at.string() != root_) at = at.parent_path();
  };
  for (const std::string& file : files) {
    sync_file(file);
    add(fs::path(file).parent_path());
  }
  for (const std::string& folder : names) add(folder);
  for (const std::string& folder : folders) posix::sync_folder(folder);
}

}  // namespace plait::store::folder
