/// The cache between programs and the device, on the virtual clock.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/cache/registry.hpp"
#include "simulation/cache/slot_lists.hpp"
#include "simulation/replay/file_placement.hpp"
#include "simulation/replay/future.hpp"
#include "simulation/replay/operations.hpp"
#include "simulation/replay/read_ahead.hpp"
#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// A part of a file that a process reads or writes; bytes, length above 0.
struct Access {
  std::uint32_t process = 0;
  std::uint32_t file = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  bool durable = false;  ///< a write that ends when its bytes are on the device, and the device is flushed
};

/// What the cache has done, in blocks unless said otherwise.
struct CacheCounts {
  std::int64_t read_blocks = 0;
  std::int64_t hit_blocks = 0;    ///< of them: in the cache, or on their way into it
  std::int64_t hit_requests = 0;  ///< reads of which every block was in the cache or on its way
  std::int64_t read_requests = 0;
  std::int64_t written_blocks = 0;
  std::int64_t overwritten_blocks = 0;  ///< of them: dirty already, so that one write to the device was saved
  std::int64_t ahead_blocks = 0;        ///< read ahead
  std::int64_t ahead_used = 0;          ///< of them: read by a program later
  std::int64_t ahead_wasted = 0;        ///< of them: gone before anybody read them
  std::int64_t evicted = 0;
  std::int64_t evicted_dirty = 0;  ///< of them: had to be written first
  std::int64_t limited = 0;        ///< times that a writer waited for the limit of dirty blocks
  std::int64_t discarded = 0;      ///< dirty blocks cut off with their file before they were written
};

/// After read() and write(), needed() are the operations that the program waits for.  A block that was partly written
/// counts as whole: what of it lies on the device is not read first.
/// cost     O(blocks of the request), amortised.  memory: some 110 bytes a block of the cache, by what is used of it.
class BufferCache final : private Timer {
 public:
  BufferCache(const CacheSettings& settings, EventQueue& clock, Operations& operations, const FilePlacement& placement,
              std::uint32_t processes);

  /// Policies that look ahead are told by this from now on.
  void look_ahead(Future& future) noexcept { future_ = &future; }

  /// returns  whether every block was there or on its way.
  bool read(const Access& access);
  void write(const Access& access);
  /// A request that goes past the cache.
  void direct(const Access& access, bool write) {
    needed_.clear();
    uncached(access, write);
    if (access.durable) flush_device();
  }
  /// Brings all dirty blocks of a file to the device, and flushes it.
  void sync(std::uint32_t file);
  /// Forgets what lies behind the new end of a file.
  void truncate(std::uint32_t file, std::int64_t size);
  /// Brings everything to the device, at the end.
  void flush();
  /// That a write is on the device.
  void written(std::int64_t bytes) { under_write_ -= bytes; }

  std::span<const Operation> needed() const noexcept { return needed_; }
  const CacheCounts& counts() const noexcept { return counts_; }
  std::int64_t dirty_bytes() const noexcept { return static_cast<std::int64_t>(oldest_.size) * block_; }

 private:
  struct Block {
    BlockKey key;
    Operation operation;  // that brings it in or out
    Time dirty_since = 0;
    std::uint32_t process = 0;
    bool dirty = false;
    bool ahead = false;  // read ahead, and not read since
  };
  /// Blocks that are missing, one behind the other, as one request being put together.
  struct Run {
    Operation operation;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::vector<Operation> before;
  };

  void fire(std::uint64_t token) override;
  bool uncached(const Access& access, bool write);
  void need(Operation one);
  Slot slot_for(const Use& use, Run& run);
  void evict(Slot slot, Run& run, bool for_room = true);
  void drop(Slot slot);
  void toss(Run& run);
  void forget(Slot slot);
  Slot bring(const Use& use, Run& run);
  void add_missing(Run& run, const Access& access, std::uint64_t block, bool ahead);
  void end_run(Run& run, std::uint32_t file, bool wait);
  void read_ahead(const Access& access, FileRange range);
  void set_dirty(Slot slot);
  void set_clean(Slot slot);
  void write_out(Slot slot);
  void write_out_range(std::uint32_t file, std::uint64_t first, std::uint64_t end);
  void hold_limits();
  void write_through(const Access& access, std::uint64_t first, std::uint64_t end);
  void flush_device();
  std::uint64_t first_block(const Access& access) const { return static_cast<std::uint64_t>(access.offset / block_); }
  std::uint64_t end_block(const Access& access) const {
    return static_cast<std::uint64_t>((access.offset + access.length + block_ - 1) / block_);
  }
  Use use_of(const Access& access, std::uint64_t block) const {
    const BlockKey key{block, access.file};
    return {key, access.process, future_ == nullptr ? kNever : future_->next(key), 1};
  }
  Block* resident(std::uint32_t file, std::uint64_t block) {
    const Slot slot = table_.find({block, file});
    return slot == kNoSlot ? nullptr : &blocks_[slot];
  }

  CacheSettings settings_;
  EventQueue& clock_;
  Operations& operations_;
  const FilePlacement& placement_;
  std::int64_t block_;
  Slot slots_;
  std::unique_ptr<Policy> policy_;
  Future* future_ = nullptr;
  ReadAhead ahead_;
  BlockTable table_;
  std::vector<Block> blocks_;  // by slot
  std::vector<Slot> free_;
  SlotLinks age_links_;   // of dirty blocks, in the order in which they became dirty
  SlotList oldest_;       // the newest at the front
  SlotLinks file_links_;  // of dirty blocks of one file
  std::vector<SlotList> file_dirty_;
  SlotLinks owner_links_;  // of blocks of one process, in the order of use; where there is a limit
  std::vector<SlotList> owned_;
  Slot owner_limit_ = 0;
  std::uint64_t largest_run_ = 0;  // maximum blocks of one request that fit into the cache
  std::int64_t under_write_ = 0;   // bytes
  Operation last_write_;
  std::vector<Operation> file_last_write_;
  bool flushing_ = false;  // an event looks at ages
  std::vector<Operation> needed_;
  CacheCounts counts_;
};

}  // namespace plait::simulation
