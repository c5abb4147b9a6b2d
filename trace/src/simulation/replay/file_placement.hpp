/// The addresses of files on the simulated device. Files occupy consecutive address ranges in the order of their first
/// use. Example: alignment 4096 and files of 5000 and 100 bytes begin at addresses 0 and 8192, and span() is 12288.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/errors.hpp"

namespace plait::simulation {

class FilePlacement {
 public:
  /// extents  by file: the end of its last request in bytes. Each file begins at a multiple of `alignment`.
  /// errors   kArgument: all files together have more bytes than half of the address range.
  FilePlacement(std::span<const std::int64_t> extents, std::int64_t alignment) {
    starts_.reserve(extents.size() + 1);
    starts_.push_back(0);
    for (const std::int64_t file_size : extents) {
      const std::int64_t blocks = file_size / alignment + (file_size % alignment != 0 ? 1 : 0);
      if (blocks > (kMax - starts_.back()) / alignment)
        base::throw_argument_error(
            "found more than 4 EiB in the files of the traces together, expected less; replay fewer traces at "
            "once, or correct the offsets in them");
      starts_.push_back(starts_.back() + blocks * alignment);
    }
  }

  std::int64_t address(std::uint32_t file, std::int64_t offset) const { return starts_[file] + offset; }
  /// Size of a file in bytes, rounded up to the alignment.
  std::int64_t file_size(std::uint32_t file) const { return starts_[file + 1] - starts_[file]; }
  std::int64_t span() const { return starts_.back(); }
  std::size_t files() const { return starts_.size() - 1; }

 private:
  static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 2;

  std::vector<std::int64_t> starts_;
};

}  // namespace plait::simulation
