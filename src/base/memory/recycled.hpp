/// Memory for large results, reused for later ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::base {

/// Smaller results use the ordinary allocator, which caches memory of that size anyway. They contain no large page, and
/// reads into recycled small pages take longer than reads into the memory of that allocator (decision 0107).
inline constexpr std::int64_t kMinRecycled = std::int64_t{2} << 20;

/// Memory of at least `bytes` bytes with arbitrary content. It begins at a page boundary, and consists of large pages
/// if the system has them.
///
/// The system clears fresh memory at its first use, which takes as long as a copy of it. A destroyed block is
/// therefore cached for the next one of its size. When memory is short, the system may reclaim the memory of cached
/// blocks at any time, without a notice or a write to a disk (MADV_FREE). Children of a fork do not inherit them.
/// set_max_recycled() limits their total size, and the oldest ones are released first. Cached blocks occupy address
/// space, so nothing is cached if RLIMIT_AS or RLIMIT_DATA limits it.
/// threads  Any. A child of a fork may destroy its copies of blocks that its parent made.
class RecycledBlock {
 public:
  /// cost    Microseconds if a block of this size is cached. Sizes are rounded up by at most 1/8.
  /// errors  kArgument: PLAIT_RECYCLED_MEMORY is not a number of bytes. std::bad_alloc, after all cached blocks were
  /// released.
  explicit RecycledBlock(std::int64_t bytes);
  ~RecycledBlock();
  RecycledBlock(const RecycledBlock&) = delete;
  RecycledBlock& operator=(const RecycledBlock&) = delete;

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
  std::byte* data_;
};

/// Returns the maximum number of cached bytes in this process: PLAIT_RECYCLED_MEMORY; by default a quarter of the
/// machine's memory, divided by its cores.
/// errors  As of a block.
std::int64_t max_recycled();

/// Sets the maximum, and releases the blocks above it; 0 disables the cache. Returns the previous maximum.
/// errors  kArgument: below 0; as of a block.
std::int64_t set_max_recycled(std::int64_t bytes);

/// Returns the bytes of all cached blocks in this process.
std::int64_t waiting_recycled();

}  // namespace plait::base
