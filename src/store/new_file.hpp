/// The interface of new files of every kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "store/location.hpp"

namespace plait::store {

/// The initial content of a new file.
struct NewFileOptions {
  std::int64_t bytes = 0;
  std::span<const std::byte> head;  ///< first bytes of the file; the others are zero
  /// True to fail if another rank of this job writes a file of that name without a communicator (posix/writer.hpp).
  bool claimed = false;
  /// True if uncommitted data stay when the NewFile is destroyed, under a temporary name that every host can compute.
  bool keeps_unfinished = false;
  /// True to continue an unfinished file that an earlier program has left, if it has the same size and head.
  bool continues = false;
  /// Metadata texts of groups by their names, for formats of folders.
  const std::map<std::string, std::string>* groups = nullptr;
  /// True if commit() makes the file durable before it appears.
  bool durable = true;
};

/// A file under construction. It appears under its name as a whole or not at all. One process has this object, while
/// all processes write to its location.
class NewFile {
 public:
  /// Discards uncommitted data.
  virtual ~NewFile() = default;
  /// Returns the location of its bytes until commit(). A store that is open on it does not notice a later resize().
  virtual Location location() const = 0;
  /// Changes the number of bytes. New ones are zero, and their space is reserved if the file system supports that.
  /// cost  A few system calls for each component.
  /// errors  kSystem: a full disk. The file must then be discarded.
  virtual void resize(std::int64_t bytes) = 0;
  /// Makes the file appear, durably unless the options say otherwise. The replaced file is removed with its component
  /// files.  errors  kSystem.
  virtual void commit() = 0;
  /// Removes everything that was made, unless unfinished files stay.
  virtual void discard() noexcept = 0;
  /// Returns true if this continues an earlier unfinished file.
  virtual bool continued() const { return false; }
};

}  // namespace plait::store
