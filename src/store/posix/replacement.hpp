/// A new file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/process.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/file_attributes.hpp"
#include "store/posix/identity.hpp"

namespace plait::store::posix {

/// The new content of `path`, under a temporary name in the same folder until commit() renames it.
///
/// The new file gets the permissions, owner, group and extended attributes of the one that it replaces, as far as that
/// is permitted; other names of the old one (hard links) keep the old content.  Where there was none when it was begun
/// and there is one at commit(), that one stays, and the new one gets another name.
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
    bool claimed;  ///< no other rank of this job may write a file of that name alone: see claim()
    /// What is not committed stays, under unfinished_name() (temporary.hpp).
    bool keeps_unfinished;
    /// Goes on with what has stayed, if that has `bytes` bytes, or whatever it has where that is -1, and the same head.
    bool continues;
  };

  /// Makes a temporary file of `bytes` bytes with `head` in front; the space is reserved where the file system can.
  /// errors  kSystem: missing folder, no permission, full disk, or `path` is something other than a regular file;
  ///         nothing is left behind.  kArgument: another rank of this job writes `path` alone, where that is claimed.
  Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head, const Marks& marks = {});
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// The file that will be replaced, with links followed.
  const std::string& target_path() const { return target_; }
  /// Whether there is a temporary file: until it is committed or discarded.
  bool pending() const { return open_; }
  /// Whether the file has its final name.
  bool in_position() const { return in_position_; }
  /// Of the new file, until it is committed or discarded.  errors  kSystem.
  Identity identity() const { return identity_of(file_.number(), path_); }
  /// What the new file gets of the old one.
  const Attributes& attributes() const { return attributes_; }
  /// Changes the number of bytes; new ones are zero.  errors  kSystem: a full disk.
  void resize(std::int64_t bytes);
  /// Writes `bytes` at the front of the temporary file.  errors  kSystem.
  void write_head(std::span<const std::byte> bytes);
  /// Syncs the temporary file, renames it to `path` and syncs the folder.
  /// errors  kSystem: where it is in_place() the file has been replaced, but may not be durable; EEXIST: a file has
  ///         appeared under a name that was free.  There, and where the old file cannot be replaced any more, the new
  ///         one is kept under the name that the error says.
  void commit();
  /// Removes the temporary file, unless unfinished files are kept; not in a forked child, whose it is not.
  void discard() noexcept;
  /// Whether it has gone on with what an earlier one has left.
  bool continued() const { return continued_; }

 private:
  base::Owner owner_;
  std::string path_;    // as given, for errors
  std::string target_;  // with symbolic links followed, so that a link stays one
  std::string temporary_;
  Descriptor file_;  // holds the lock
  Attributes attributes_;
  bool existed_ = false;
  bool open_ = false;
  bool in_position_ = false;
  bool keeps_ = false;
  bool continued_ = false;

  /// Makes the temporary file, locked.
  void make(const std::string& prefix, const Marks& marks);
  /// The same of one that may stay.
  void make_kept(std::int64_t bytes, std::span<const std::byte> head, const Marks& marks);
  [[noreturn]] void keep_beside(const char* why, int code);
};

/// The absolute path of the file that a name stands for, also where the last of its links leads to nothing yet.
/// errors  kSystem: links in a circle.
std::string follow_links(const std::string& name);
/// Gives an open file its size, and its space where the file system can tell.  errors  kSystem: names `shown`.
void reserve(int file, std::int64_t bytes, const std::string& shown);
/// Makes the bytes of an open file durable, if its file system can.  errors  kSystem: names `shown`.
void sync_open(int file, const std::string& shown);
/// Makes the names in a folder durable.  errors  kSystem.
void sync_folder(const std::string& folder);

}  // namespace plait::store::posix
