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

/// A part of a file that a process reads or writes, in bytes. The length is above 0.
struct Access {
  std::uint32_t process = 0;
  std::uint32_t file = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  bool durable = false;  ///< a write that ends when its bytes are on the device and the device is flushed
};

/// Statistics of the cache, in blocks unless stated otherwise.
struct CacheCounts {
  std::int64_t read_blocks = 0;
  std::int64_t hit_blocks = 0;    ///< blocks read that were in the cache, or on their way into it
  std::int64_t hit_requests = 0;  ///< reads whose blocks were all in the cache or on their way
  std::int64_t read_requests = 0;
  std::int64_t written_blocks = 0;
  /// Blocks written that were already dirty, so that one write to the device was saved.
  std::int64_t overwritten_blocks = 0;
  std::int64_t ahead_blocks = 0;  ///< blocks read ahead
  std::int64_t ahead_used = 0;    ///< blocks read ahead that a program read later
  std::int64_t ahead_wasted = 0;  ///< blocks read ahead that were evicted before a program read them
  std::int64_t evicted = 0;
  std::int64_t evicted_dirty = 0;  ///< evicted blocks that were written to the device first
  std::int64_t limited = 0;        ///< number of times that a writer waited for the limit of dirty blocks
  std::int64_t discarded = 0;      ///< dirty blocks that were truncated before they were written
};

/// Simulates the page cache of an operating system. After read() and write(), needed_operations() contains the
/// operations that the program waits for. A partly written block counts as whole: its other bytes are not read from the
/// device first.
/// cost     O(blocks of the request), amortised.
/// memory   about 110 bytes for each block of the cache that is used.
class BufferCache final : private Timer {
 public:
  BufferCache(const CacheSettings& settings, EventQueue& clock, Operations& operations, const FilePlacement& placement,
              std::uint32_t processes);

  /// Sets the source of future uses for policies that look ahead.
  void set_future(Future& future) noexcept { future_ = &future; }

  /// Reads through the cache.
  /// returns  true if every block was in the cache or on its way.
  bool read(const Access& access);
  void write(const Access& access);
  /// Reads or writes without the cache.
  void bypass(const Access& access, bool write) {
    needed_.clear();
    access_device(access, write);
    if (access.durable) flush_device();
  }
  /// Writes all dirty blocks of a file to the device, and flushes the device, as fsync() does.
  void sync(std::uint32_t file);
  /// Discards the blocks after the new end of a file.
  void truncate(std::uint32_t file, std::int64_t size);
  /// Writes all dirty blocks to the device, at the end of the replay.
  void flush();
  /// Records that a write has reached the device.
  void count_written(std::int64_t bytes) { bytes_under_write_ -= bytes; }

  std::span<const Operation> needed_operations() const noexcept { return needed_; }
  const CacheCounts& counts() const noexcept { return counts_; }
  std::int64_t dirty_bytes() const noexcept { return static_cast<std::int64_t>(dirty_by_age_.size) * block_; }

 private:
  struct Block {
    BlockKey key;
    Operation operation;  // the device operation that reads or writes the block
    Time dirty_since = 0;
    std::uint32_t process = 0;
    bool dirty = false;
    bool ahead = false;  // true if it was read ahead and no program has read it
  };
  /// Adjacent missing blocks, which become one request.
  struct Run {
    Operation operation;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::vector<Operation> before;  // operations that must end first, because they use slots of the run
  };

  void fire(std::uint64_t token) override;
  /// Reads or writes past the cache by one operation. Returns false: it is not a hit.
  bool access_device(const Access& access, bool write);
  /// Makes the program wait for an operation.
  void need(Operation operation);
  /// Returns a free slot, after evicting a block if necessary.
  Slot allocate_slot(const Use& use, Run& run);
  void evict(Slot slot, Run& run, bool for_space = true);
  void remove_from_tables(Slot slot);
  /// Evicts the blocks that the policy gives up early.
  void evict_tossed(Run& run);
  /// Removes a block that was truncated, without writing it.
  void discard(Slot slot);
  /// Brings a block into the cache, without its data. Returns its slot.
  Slot admit_block(const Use& use, Run& run);
  /// Adds a missing block to a run, which ends first if the block does not follow it.
  void add_missing(Run& run, const Access& access, std::uint64_t block, bool ahead);
  void end_run(Run& run, std::uint32_t file, bool wait);
  void read_ahead(const Access& access, FileRange range);
  void set_dirty(Slot slot);
  void set_clean(Slot slot);
  void write_out(Slot slot);
  void write_out_range(std::uint32_t file, std::uint64_t first, std::uint64_t end);
  /// Writes the oldest dirty blocks while there are more than dirty_start, and lets writers wait above dirty_limit.
  void write_out_above_limits();
  void write_through(const Access& access, std::uint64_t first, std::uint64_t end);
  void flush_device();
  std::uint64_t first_block(const Access& access) const { return static_cast<std::uint64_t>(access.offset / block_); }
  std::uint64_t end_block(const Access& access) const {
    return static_cast<std::uint64_t>((access.offset + access.length + block_ - 1) / block_);
  }
  Use make_use(const Access& access, std::uint64_t block) const {
    const BlockKey key{block, access.file};
    return {key, access.process, future_ == nullptr ? kNever : future_->next_use(key), 1};
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
  ReadAhead read_ahead_;
  BlockTable table_;
  std::vector<Block> blocks_;  // the block in each slot
  std::vector<Slot> free_;
  SlotLinks age_links_;    // links of dirty blocks in the order in which they became dirty
  SlotList dirty_by_age_;  // the block that became dirty last is at the front
  SlotLinks file_links_;   // links of the dirty blocks of each file
  std::vector<SlotList> dirty_by_file_;
  SlotLinks process_links_;  // links of the blocks of each process in the order of use; used only with process_limit
  std::vector<SlotList> blocks_by_process_;
  Slot process_limit_ = 0;              // maximum number of blocks of a process; 0: no limit
  std::uint64_t max_run_blocks_ = 0;    // maximum number of blocks of one request that fit into the cache
  std::int64_t bytes_under_write_ = 0;  // bytes that are being written
  Operation last_write_;
  std::vector<Operation> file_last_write_;
  bool age_check_scheduled_ = false;  // true if an event is pending that checks ages
  std::vector<Operation> needed_;
  CacheCounts counts_;
};

}  // namespace plait::simulation
