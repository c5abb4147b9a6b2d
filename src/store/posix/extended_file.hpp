/// An ordinary file that is extended at its end.
#pragma once

#include <cstdint>
#include <string>

#include "store/posix/descriptor.hpp"
#include "store/store.hpp"

namespace plait::store::posix {

/// A file whose array grows at the end of the file. A lock excludes other programs that extend it with Plait. Bytes
/// after the end of the array have no meaning.
class ExtendedFile {
 public:
  /// Locks the file.  name: the name of the array, for errors.
  /// errors  kArgument: it is not an ordinary file.  kSystem, EBUSY: another program, or another File of this process,
  ///         extends it.
  ExtendedFile(Store& store, const std::string& name);
  /// Sets the size of the file to `end` bytes; new bytes are zero.  errors  kSystem.
  void resize(std::int64_t end);
  /// Returns the descriptor that holds the lock.
  int descriptor() const { return file_.number(); }

 private:
  std::string name_;
  Descriptor file_;
};

}  // namespace plait::store::posix
