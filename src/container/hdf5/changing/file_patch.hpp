/// Bytes of a file that change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::container::hdf5 {

/// Consecutive bytes of a file that change. A byte before the former end of the file always differs from its former
/// value.
struct ByteChange {
  std::int64_t offset = 0;
  std::vector<std::byte> before;  ///< zeros after the former end of the file
  std::vector<std::byte> after;
};

/// All changes of a file that take effect together.
struct FilePatch {
  std::int64_t old_size = 0;
  std::int64_t new_size = 0;
  std::vector<ByteChange> bytes;
};

}  // namespace plait::container::hdf5
