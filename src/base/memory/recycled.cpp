// Caches large blocks of memory for reuse.
//
// Problem: the kernel clears fresh memory at its first use, which takes as long as a copy.
//
// Idea: a released block stays in a list and is marked with MADV_FREE, so that the kernel takes its pages only if
// memory is short. A new block of the same rounded size reuses a block of the list. Sizes are rounded up to 8 values
// per power of two. Example: 17 MiB are rounded up to a multiple of 16/8 = 2 MiB, to 18 MiB, so that a later block of
// 17.5 MiB can use the same memory.

#include "base/memory/recycled.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"

namespace plait::base {

namespace {

constexpr std::int64_t kLargePage = std::int64_t{2} << 20;
/// Larger sizes exceed any address space, and sums of them could overflow.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 60;

/// Rounds up to one of few sizes, so that blocks of almost the same size can be reused for each other.
std::int64_t round_up(std::int64_t bytes) {
  if (bytes > kMaxBytes) throw std::bad_alloc();
  bytes = std::max(bytes, kMinRecycled);
  const auto granule = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes))) / 8;
  return ceil_divide(bytes, granule) * granule;
}

/// Maps fresh memory. A block that can contain a large page begins at one.
std::byte* map_memory(std::int64_t bytes) {
  const std::int64_t spare = bytes >= kLargePage ? kLargePage : 0;
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes + spare), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(memory);
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory));
  const std::int64_t leading = spare == 0 ? 0 : ceil_divide(address, kLargePage) * kLargePage - address;
  if (leading > 0) ::munmap(begin, static_cast<std::size_t>(leading));
  if (spare > leading) ::munmap(begin + leading + bytes, static_cast<std::size_t>(spare - leading));
#if defined(MADV_HUGEPAGE)
  if (spare > 0) ::madvise(begin + leading, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#endif
  return begin + leading;
}

struct Memory {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;

  void release() const { ::munmap(data, static_cast<std::size_t>(bytes)); }
  /// Allows the system to reclaim the pages. Returns false if the system does not support this.
  bool mark_reclaimable() const {
#if defined(MADV_FREE) && defined(MADV_DONTFORK)
    return ::madvise(data, static_cast<std::size_t>(bytes), MADV_DONTFORK) == 0 &&
           ::madvise(data, static_cast<std::size_t>(bytes), MADV_FREE) == 0;
#else
    return false;
#endif
  }
  /// Makes children of a fork inherit the block again. Returns false if this fails.
  bool make_inheritable() const {
#if defined(MADV_FREE) && defined(MADV_DONTFORK)
    return ::madvise(data, static_cast<std::size_t>(bytes), MADV_DOFORK) == 0;
#else
    return true;
#endif
  }
};

/// True if the address space of the process is limited. Cached blocks occupy addresses, which would then be missing for
/// other allocations.
bool addresses_are_limited() {
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

constexpr std::int64_t kUnknown = -1;
std::atomic<std::int64_t> max_cached{kUnknown};

/// The cached blocks, oldest first. Adding a block allocates nothing.
class BlockCache {
 public:
  /// Returns the most recently cached block of exactly `bytes` bytes, because it may still be in the caches of the
  /// processor; nullptr: none.
  std::byte* take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = count_; i-- > 0;) {
      if (blocks_[i].bytes != bytes) continue;
      const Memory block = remove(i);
      if (block.make_inheritable()) return block.data;
      block.release();
    }
    return nullptr;
  }

  void add(const Memory& block) {
    const bool limited = addresses_are_limited();
    const bool reclaimable = !limited && block.bytes <= max_cached.load() && block.mark_reclaimable();
    const std::lock_guard lock(mutex_);
    // Loaded again under the lock, because set_max_recycled() may have changed it.
    const std::int64_t limit = limited ? 0 : max_cached.load();
    if (!reclaimable || block.bytes > limit) {
      block.release();
      if (limited) shrink(0);
      return;
    }
    shrink(limit - block.bytes);
    if (count_ == blocks_.size()) remove(0).release();
    blocks_[count_++] = block;
    bytes_ += block.bytes;
  }

  void shrink_to(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    shrink(bytes);
  }

  std::int64_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  Memory remove(std::size_t i) {
    const Memory block = blocks_[i];
    std::copy(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              blocks_.begin() + static_cast<std::ptrdiff_t>(count_), blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    bytes_ -= block.bytes;
    return block;
  }
  void shrink(std::int64_t bytes) {
    while (bytes_ > bytes) remove(0).release();
  }

  std::mutex mutex_;
  std::array<Memory, 64> blocks_;
  std::size_t count_ = 0;
  std::int64_t bytes_ = 0;
};

/// The cached blocks of this process. A child begins with none, because the blocks of its parent are not mapped
/// there.
BlockCache& block_cache() {
  static PerProcess<BlockCache> all;
  return all.get();
}

std::int64_t max_by_default() {
  if (const char* setting = std::getenv("PLAIT_RECYCLED_MEMORY"); setting != nullptr && *setting != '\0') {
    char* end = nullptr;
    errno = 0;
    const std::int64_t bytes = std::strtoll(setting, &end, 10);
    if (*end != '\0' || bytes < 0 || errno != 0)
      throw_argument_error("PLAIT_RECYCLED_MEMORY=", setting,
                           " is not a number of bytes; use one such as 268435456, 0 for none, or unset it");
    return bytes;
  }
  const std::int64_t pages = std::max<std::int64_t>(::sysconf(_SC_PHYS_PAGES), 0);
  return pages / 4 / std::max<std::int64_t>(::sysconf(_SC_NPROCESSORS_CONF), 1) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

RecycledBlock::RecycledBlock(std::int64_t bytes) : bytes_(round_up(bytes)), data_(nullptr) {
  if (max_recycled() > 0) data_ = block_cache().take(bytes_);
  if (data_ == nullptr) data_ = map_memory(bytes_);
  if (data_ != nullptr) return;
  block_cache().shrink_to(0);
  data_ = map_memory(bytes_);
  if (data_ == nullptr) throw std::bad_alloc();
}

RecycledBlock::~RecycledBlock() { block_cache().add({data_, bytes_}); }

std::int64_t max_recycled() {
  std::int64_t current = max_cached.load();
  if (current != kUnknown) return current;
  const std::int64_t default_max = max_by_default();
  return max_cached.compare_exchange_strong(current, default_max) ? default_max : current;
}

std::int64_t set_max_recycled(std::int64_t bytes) {
  if (bytes < 0) throw_argument_error(bytes, " bytes of recycled memory are too few; use 0 for none");
  const std::int64_t before = max_recycled();
  max_cached.store(bytes);
  block_cache().shrink_to(bytes);
  return before;
}

std::int64_t waiting_recycled() { return block_cache().bytes(); }

}  // namespace plait::base
