/// A new folder that becomes visible as a whole or not at all.
#pragma once

#include <string>

#include "base/process.hpp"
#include "store/new_file.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// The folder that will become `target`, under a temporary name until commit() renames it.
///
/// If the process is killed at any time, `target` is the old folder or the new one; if the file system cannot exchange
/// two folders, `target` may be missing. As in Replacement, the temporary name contains the host and the process, the
/// process holds a lock on the folder, and the next process on that host that replaces the same folder removes what a
/// killed process has left.
class FolderReplacement {
 public:
  /// Makes an empty folder.
  /// target: the final path of the folder. commit() removes the present file or folder of that name.
  /// sibling: the path next to which the temporary folder is made: `target` or a folder above it.
  /// array: the name of the array in the hierarchy `sibling`; each array has its own unfinished folder. May be empty.
  /// errors  kSystem: a missing folder, or no permission. kArgument: another rank of this job writes it alone.
  FolderReplacement(const std::string& target, const std::string& sibling, std::string_view array,
                    const NewFileOptions& options);
  ~FolderReplacement() { discard(); }
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// Renames the folder to `target`. Its files must have been synced.
  /// replaces: true if the folder that existed at the beginning may still be replaced.
  /// errors  kSystem; EEXIST: `target` exists by now and must not be replaced. The new folder is then next to it, under
  ///         a name that the error states.
  void commit(bool replaces = true);
  /// Removes the temporary folder, unless NewFileOptions::keeps_unfinished is set. Does nothing in a forked child,
  /// because the parent owns the folder.
  void discard() noexcept;
  /// Returns true if this continues an earlier unfinished folder.
  bool continued() const { return continued_; }
  /// Removes the contents of the earlier unfinished folder.
  void clear();

 private:
  /// Exchanges the old folder and the new one; `temporary_` is then the old one. An unfinished folder is first renamed.
  void exchange();
  /// Exchanges the two folders by one or, if the file system does not support that, by two renames.
  void swap();
  void remove() noexcept;

  base::Owner owner_;
  std::string target_;  // path with symbolic links followed
  std::string temporary_;
  std::string prefix_;  // prefix of temporary names of this host
  Descriptor folder_;   // holds the lock
  bool existed_ = false;
  bool is_pending_ = false;
  bool keeps_unfinished_ = false;
  bool durable_ = true;
  bool continued_ = false;
};

}  // namespace plait::store::posix
