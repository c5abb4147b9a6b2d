/// A new folder that appears whole or not at all.
#pragma once

#include <string>

#include "base/process.hpp"
#include "store/new_file.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// What is to be the folder `target`, under a temporary name until commit() renames it.
///
/// Whatever is killed when, `target` is the old folder or the new one; where the file system cannot exchange two
/// folders, it may be missing.  As for a Replacement the temporary name tells the host and the process, which holds a
/// lock on it, and the next one of the same name on that host removes what a killed process left behind.
class FolderReplacement {
 public:
  /// Makes an empty folder.
  /// target   the folder that will appear; what is there now goes then, whatever it is
  /// beside   the path next to which the temporary folder lies: `target` or a folder above it
  /// array    the name of the array in the hierarchy `beside`, which has an unfinished folder of its own; empty: none
  /// errors   kSystem: missing folder, no permission.  kArgument: another rank of this job writes it alone.
  FolderReplacement(const std::string& target, const std::string& beside, std::string_view array,
                    const NewFileOptions& options);
  ~FolderReplacement() { discard(); }
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// Gives it its name; its files are synced already.
  /// replaces  whether what was there when this was made may still go
  /// errors    kSystem; EEXIST: something that may not go has appeared under the name; the new folder is kept beside it,
  ///           under a name that the error says.
  void commit(bool replaces = true);
  /// Removes the temporary folder, unless unfinished ones are kept; not in a forked child, whose it is not.
  void discard() noexcept;
  /// Whether it has gone on with what an earlier one has left.
  bool continued() const { return continued_; }
  /// Removes what an earlier one has left after all.
  void clear();

 private:
  /// Where the old folder goes while the new one takes its place.
  void exchange();
  void swap();
  void remove() noexcept;

  base::Owner owner_;
  std::string target_;  // with symbolic links followed
  std::string temporary_;
  std::string prefix_;  // of temporary names of its own
  Descriptor folder_;   // holds the lock
  bool existed_ = false;
  bool open_ = false;
  bool keeps_ = false;
  bool continued_ = false;
};

}  // namespace plait::store::posix
