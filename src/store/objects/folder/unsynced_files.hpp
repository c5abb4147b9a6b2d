/// The files and folders that have to be synced.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace plait::store::folder {

/// Maximum number of files that are synced one by one. For more, syncing the whole file system is faster.
inline constexpr std::size_t kMaxSynced = 64;

/// Syncs a file.  errors  kSystem.
void sync_file(const std::string& file);
/// Syncs the file system that contains a folder.  errors  kSystem.
void sync_file_system(const std::string& folder);

/// The files below a root folder that were written since the last sync.
/// threads  Any number at once.
class UnsyncedFiles {
 public:
  explicit UnsyncedFiles(const std::string& root) : root_(root) {}
  void add(const std::string& file);
  /// Adds a file whose content has been synced, but whose name has not.
  void add_name(const std::string& file);
  bool empty();
  /// Syncs all files and folders that were added.  errors  kSystem.
  void sync();

 private:
  void count();

  const std::string& root_;
  std::mutex mutex_;
  std::vector<std::string> files_;  // at most kMaxSynced
  std::set<std::string> folders_;   // at most kMaxSynced
  bool many_ = false;
};

}  // namespace plait::store::folder
