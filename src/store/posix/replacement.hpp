/// A new file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/process.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"

namespace plait::store::posix {

/// The new content of `path`, under a temporary name in the same folder until commit() renames it.
///
/// Whatever is killed when, `path` is the old file or the new one.  The temporary name tells the host and the process
/// that made it, and the process holds a lock on it: one that a killed process left behind is removed by the next
/// Replacement of the same path on that host.
class Replacement {
 public:
  /// What a file that stands for others asks for.
  struct Marks {
    std::string suffix;  ///< of the temporary name, so that others can tell what it holds
    /// Called with the path of each file that a killed process left behind, before that is removed, and with the path
    /// of the file that is to be replaced.  Returns whether it may be removed.
    std::function<bool(const std::string&, const std::string&)> on_left_behind;
  };

  /// Makes a temporary file of `bytes` bytes with `head` in front; the space is reserved where the file system can.
  /// errors  kSystem: missing folder, no permission, full disk, or `path` is something other than a regular file;
  /// nothing
  ///         is left behind.
  Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head, const Marks& marks = {});
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// The file that will be replaced, with links followed.
  const std::string& target_path() const { return target_; }
  /// Whether there is a temporary file: until it is committed or discarded.
  bool pending() const { return open_; }
  /// Of the new file, until it is committed or discarded.  errors  kSystem.
  Identity identity() const { return identity_of(file_.number(), path_); }
  /// Permissions that the new file has.
  unsigned permissions() const { return permissions_; }
  /// Changes the number of bytes; new ones are zero.  errors  kSystem: a full disk.
  void resize(std::int64_t bytes);
  /// Writes `bytes` at the front of the temporary file.  errors  kSystem.
  void write_head(std::span<const std::byte> bytes);
  /// Syncs the temporary file, renames it to `path` and syncs the folder.
  /// errors  kSystem: where nothing is pending() any more the file has been replaced, but may not be durable.
  void commit();
  /// Removes the temporary file; not in a forked child, whose it is not.
  void discard() noexcept;

 private:
  base::Owner owner_;
  std::string path_;    // as given, for errors
  std::string target_;  // with symbolic links followed, so that a link stays one
  std::string temporary_;
  Descriptor file_;  // holds the lock
  unsigned permissions_ = 0;
  bool open_ = false;
};

/// The absolute path of the file that a name stands for, also where the last of its links leads to nothing yet.
/// errors  kSystem: links in a circle.
std::string follow_links(const std::string& name);
/// Gives an open file its size, and its space where the file system can tell.  errors  kSystem: names `shown`.
void reserve(int file, std::int64_t bytes, const std::string& shown);
/// Makes the names in a folder durable.  errors  kSystem.
void sync_folder(const std::string& folder);

}  // namespace plait::store::posix
