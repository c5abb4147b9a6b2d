/// A new file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// The new content of `path`, under a temporary name in the same folder until commit() renames it.
///
/// Whatever is killed when, `path` is the old file or the new one.  The temporary name tells the host and the process
/// that made it, and the process holds a lock on it: one that a killed process left behind is removed by the next
/// Replacement of the same path on that host.
class Replacement {
 public:
  /// Makes a temporary file of `bytes` bytes with `head` in front; the space is reserved where the file system can.
  /// errors  kSystem: missing folder, no permission, full disk, or `path` is something other than a regular file;
  /// nothing
  ///         is left behind.
  Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// Syncs the temporary file, renames it to `path` and syncs the folder.  errors  kSystem.
  void commit();
  /// Removes the temporary file.
  void discard() noexcept;

 private:
  std::string target_;  // with symbolic links followed, so that a link stays one
  std::string temporary_;
  Descriptor file_;  // holds the lock
  bool open_ = false;
};

}  // namespace plait::store::posix
