/// A folder for files that are written while other programs see the former ones.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "store/posix/descriptor.hpp"

namespace plait::store::folder {

inline constexpr std::string_view kChanges = ".plait-changes";

/// The folder `.plait-changes` has a folder for each process that writes, where no reader looks and which is short to list
/// however many objects there are.  A process holds a lock on its own; the next one that writes removes those of this host
/// whose process has ended, and those of any host that are abandoned.
/// threads  Any number at once.
class ChangesFolder {
 public:
  /// root: the folder of the objects; must outlive this.
  explicit ChangesFolder(const std::string& root) : root_(root) {}
  ~ChangesFolder() { clear(); }
  ChangesFolder(const ChangesFolder&) = delete;
  ChangesFolder& operator=(const ChangesFolder&) = delete;

  struct Made {
    std::string path;
    posix::Descriptor file;  ///< open for reading and writing
  };
  /// Makes an empty file, with the permissions of `file` if that exists.  errors  kSystem.
  Made make(const std::string& file);
  /// Says that a file is renamed or removed.
  void release() noexcept;
  /// Removes the files that were made and not renamed.
  void clear() noexcept;
  /// Removes the folder of this process if all its files are released.
  void clear_unused() noexcept;

 private:
  void make_folder();
  void remove() noexcept;

  const std::string& root_;
  std::mutex mutex_;
  std::string folder_;  // of this process; empty: there is none
  posix::Descriptor lock_;
  std::int64_t next_ = 0;
  std::int64_t used_ = 0;  // files that are not released
  bool cleaned_ = false;   // files of processes that have ended are removed
};

}  // namespace plait::store::folder
