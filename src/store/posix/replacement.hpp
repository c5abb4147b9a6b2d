/// A new file that becomes visible as a whole or not at all.
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

/// Options of a Replacement.
struct ReplacementOptions {
  std::string suffix{};  ///< suffix of the temporary name, by which its content can be recognized
  /// Called before a temporary file of a killed process is removed, with its path and the path of the file to be
  /// replaced. Returns true if the temporary file may be removed.
  std::function<bool(const std::string&, const std::string&)> on_leftover{};
  /// True to fail if another rank of this job writes a file of that name without a communicator, see claim() in
  /// writer.hpp.
  bool claimed = false;
  /// True if discard() leaves the uncommitted file under unfinished_name() (temporary.hpp).
  bool keeps_unfinished = false;
  /// True to continue an unfinished file that begins with the same head and has `bytes` bytes, or any size if `bytes`
  /// is -1.
  bool continues = false;
  bool durable = true;  ///< commit() makes the file durable
};

/// The new content of `path`, under a temporary name in the same folder until commit() renames it.
///
/// The new file gets the permissions, owner, group and extended attributes of the old one, as far as that is permitted.
/// Other names of the old file (hard links) still refer to the old content. If no file existed at the beginning and one
/// exists at commit(), that file is not replaced, and the new file gets another name.
///
/// If the process is killed at any time, `path` is the old file or the new one. The temporary name contains the host
/// and the process that made it, and the process holds a lock on the file. The next Replacement of the same path on
/// that host removes the temporary file of a killed process.
class Replacement {
 public:
  /// Makes a temporary file of `bytes` bytes that begins with `head`. The space is reserved if the file system supports
  /// that.
  /// errors  kSystem: a missing folder, no permission, a full disk, or `path` is not a regular file; no file remains.
  ///         kArgument: ReplacementOptions::claimed is set, and another rank of this job writes the file alone.
  Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head,
              const ReplacementOptions& options = {});
  /// Discards an uncommitted file, see discard().
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  /// Returns the path of the file that will be replaced, with links followed.
  const std::string& target_path() const { return target_; }
  /// Returns true if there is a temporary file: until commit() or discard().
  bool pending() const { return is_pending_; }
  /// Returns true if the file has its final name.
  bool in_position() const { return in_position_; }
  /// Returns the identity of the new file, until commit() or discard().  errors  kSystem.
  Identity identity() const { return read_identity(file_.number(), path_); }
  /// Returns the attributes that the new file gets from the old one.
  const Attributes& attributes() const { return attributes_; }
  /// Changes the number of bytes; new ones are zero.  errors  kSystem: a full disk.
  void resize(std::int64_t bytes);
  /// Writes `bytes` at the beginning of the temporary file.  errors  kSystem.
  void write_head(std::span<const std::byte> bytes);
  /// Syncs the temporary file, renames it to `path` and syncs the folder.
  /// errors  kSystem: if in_position(), the file has been replaced, but may not be durable. EEXIST: another program has
  ///         made a file of that name. In that case, and if the old file can no longer be replaced, the new file has
  ///         the name that the error states.
  void commit();
  /// Removes the temporary file, unless ReplacementOptions::keeps_unfinished is set. Does nothing in a forked child,
  /// because the parent owns the file.
  void discard() noexcept;
  /// Returns true if this continues an earlier unfinished file.
  bool continued() const { return continued_; }

 private:
  base::Owner owner_;
  std::string path_;    // path of the caller, for errors
  std::string target_;  // path with symbolic links followed, so that a link stays a link
  std::string temporary_;
  Descriptor file_;  // holds the lock
  Attributes attributes_;
  bool existed_ = false;
  bool is_pending_ = false;
  bool in_position_ = false;
  bool keeps_unfinished_ = false;
  bool durable_ = true;
  bool continued_ = false;

  /// Makes the temporary file, locked.
  void make(const std::string& prefix, const ReplacementOptions& options);
  /// Makes or continues an unfinished file, which discard() does not remove.
  void open_unfinished(std::int64_t bytes, std::span<const std::byte> head, const ReplacementOptions& options);
  /// Renames the new file to a free name next to the target, and throws an error with the cause `why` and the code.
  [[noreturn]] void save_as_sibling(const char* why, int code);
};

/// Returns the absolute path of the file to which a name refers, even if its last link leads to no file.
/// errors  kSystem: the links form a cycle.
std::string follow_links(const std::string& name);
/// Sets the size of an open file, and reserves its space if the file system supports that.  errors  kSystem.
void reserve(int file, std::int64_t bytes, const std::string& display_name);
/// Makes the bytes of an open file durable, if its file system can. display_name: the name in errors.  errors  kSystem.
void sync_open(int file, const std::string& display_name);
/// Makes the names in a folder durable.  errors  kSystem.
void sync_folder(const std::string& folder);

}  // namespace plait::store::posix
