/// A folder for files that are written while other programs see the former ones.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "store/posix/descriptor.hpp"

namespace plait::store::folder {

inline constexpr std::string_view kChanges = ".plait-changes";

/// The folder of this process in `.plait-changes`. Each process that writes has its own folder there, which no reader
/// visits, and whose list is short regardless of the number of objects. A process holds a lock on its folder. The next
/// writer removes the folders of ended processes of this host, and abandoned ones of any host.
/// threads  Any number at once.
class ChangesFolder {
 public:
  /// root: the folder of the objects; it must outlive this object.
  explicit ChangesFolder(const std::string& root) : root_(root) {}
  ~ChangesFolder() { clear(); }
  ChangesFolder(const ChangesFolder&) = delete;
  ChangesFolder& operator=(const ChangesFolder&) = delete;

  struct CreatedFile {
    std::string path;
    posix::Descriptor file;  ///< open for reading and writing
  };
  /// Makes an empty file, with the permissions of `file` if that exists.  errors  kSystem.
  CreatedFile make(const std::string& file);
  /// Notes that a file has been renamed or removed.
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
  std::string folder_;  // folder of this process; empty if there is none
  posix::Descriptor lock_;
  std::int64_t next_ = 0;
  std::int64_t used_ = 0;  // number of files that are not released
  bool cleaned_ = false;   // true if folders of ended processes have been removed
};

}  // namespace plait::store::folder
