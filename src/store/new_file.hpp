/// New files of every kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "store/location.hpp"

namespace plait::store {

/// What a new file begins with.
struct NewFileOptions {
  std::int64_t bytes = 0;
  std::span<const std::byte> head;  ///< bytes at its front; the others are zero
  /// Another rank of this job must not write a file of that name alone (posix/writer.hpp).
  bool claimed = false;
  /// What is not committed stays when the NewFile goes, under a temporary name that every host knows.
  bool keeps_unfinished = false;
  /// Goes on with what an earlier NewFile has left so, where that has the same size and head.
  bool continues = false;
  /// Of formats of folders: texts of the metadata of groups, by the names of these.
  const std::map<std::string, std::string>* groups = nullptr;
};

/// A file under construction: it appears whole under its name, or not at all.  One process holds it; others write to
/// its location meanwhile.
class NewFile {
 public:
  /// Discards what was not committed.
  virtual ~NewFile() = default;
  /// Where its bytes are meanwhile.  A store that is open on it does not see a later resize().
  virtual Location location() const = 0;
  /// Changes the number of bytes; new ones are zero, and their space is reserved where the file system can.
  /// cost    A few system calls for each component.
  /// errors  kSystem: a full disk.  The file must be discarded then.
  virtual void resize(std::int64_t bytes) = 0;
  /// Makes the file appear, durably.  What it replaces goes, component files included.  errors  kSystem.
  virtual void commit() = 0;
  /// Removes everything that was made, or leaves it where unfinished files are kept.
  virtual void discard() noexcept = 0;
  /// Whether it has gone on with what an earlier one had left.
  virtual bool continued() const { return false; }
};

}  // namespace plait::store
