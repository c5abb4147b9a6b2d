/// Memory for large results, used again for the next ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::base {

/// Smaller results are left to the ordinary allocator, which keeps memory of that size anyway.
inline constexpr std::int64_t kLeastRecycled = std::int64_t{1} << 20;

/// Memory of at least so many bytes, of any content, at the begin of a page; in large pages where the system has them.
///
/// The first use of fresh memory has the system clear it, which takes as long as a copy of it.  So a block that is
/// destroyed waits for the next one of its size.  What waits the system may take back at any time, without a word or a
/// write to a disk, when memory is short (MADV_FREE); children of a fork do not get it.  It is bounded by
/// set_most_recycled(); those that have waited longest go first.  Addresses of what waits the system cannot take: where
/// RLIMIT_AS or RLIMIT_DATA limits them nothing waits.
/// threads  Any.  A child of a fork may destroy its copies of blocks that its parent made.
class RecycledBlock {
 public:
  /// cost    Microseconds where one of this size waits.  Sizes are rounded up by at most 1/8.
  /// errors  kArgument: PLAIT_RECYCLED_MEMORY is no number of bytes.  std::bad_alloc, once nothing waits any more.
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

/// How many bytes this process may have waiting: PLAIT_RECYCLED_MEMORY; by default a quarter of the machine's memory,
/// divided by its cores.
/// errors  As of a block.
std::int64_t most_recycled();

/// Sets that, and releases what is above it now; 0 is none.  Returns what it was.
/// errors  kArgument: below 0; as of a block.
std::int64_t set_most_recycled(std::int64_t bytes);

/// Bytes of all blocks that wait in this process.
std::int64_t waiting_recycled();

}  // namespace plait::base
