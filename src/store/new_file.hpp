/// New files of every kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "store/place.hpp"

namespace plait::store {

/// A file under construction: it appears whole under its name, or not at all.  One process holds it; others write to
/// its place meanwhile.
class NewFile {
 public:
  /// Discards what was not committed.
  virtual ~NewFile() = default;
  /// Where its bytes are meanwhile.  A store that is open on it does not see a later resize().
  virtual Place place() const = 0;
  /// Changes the number of bytes; new ones are zero, and their space is reserved where the file system can.
  /// cost    A few system calls for each component.
  /// errors  kSystem: a full disk.  The file must be discarded then.
  virtual void resize(std::int64_t bytes) = 0;
  /// Makes the file appear, durably.  What it replaces goes, component files included.  errors  kSystem.
  virtual void commit() = 0;
  /// Removes everything that was made.
  virtual void discard() noexcept = 0;
};

/// Begins a new file of `bytes` bytes, with `head` in front, that will be at `url`: a path or a striped file's name.
/// errors  kArgument: a name that cannot be.  kSystem: no such folder or disk, no permission, a full disk, something
///         other than a regular file in the way; nothing is left behind.  Where the name is `claimed`, also kArgument:
///         another rank of this job writes it alone (posix/writer.hpp).
std::unique_ptr<NewFile> make_new_file(const std::string& url, std::int64_t bytes, std::span<const std::byte> head = {},
                                       bool claimed = false);

}  // namespace plait::store
