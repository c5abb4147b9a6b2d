// The path of a request through the simulated buffer cache.
//
// Problem: a cache in front of a device decides three things that a count of hits does not show: which missing blocks
// one request reads, when dirty blocks are written, and what a program waits for meanwhile.
//
// Idea: each block remembers the device operation that brings it in or out. A read iterates over its blocks. Adjacent
// missing blocks are collected in a Run, which becomes one operation when the next missing block does not follow it,
// or when the request ends. An operation that needs the slot of a block in transfer is ordered after that block's
// operation. needed_ holds the operations that the program waits for; all others continue in the background.
//
// Example: blocks of 4 KiB, and a read of 32 KiB (blocks 0 to 7), of which block 3 is cached. The run of blocks 0 to
// 2 becomes an operation of 12 KiB as soon as block 4 is missing, and blocks 4 to 7 become one of 16 KiB: 1 hit of 8
// blocks, 2 operations, both needed. A write of blocks 4 to 7 then only marks them dirty (write-behind and delayed
// writing differ in when write_out() follows). write_out() of block 5 includes its dirty neighbours up to `coalesce`,
// so the four blocks are written by one operation.

#include "simulation/replay/buffer_cache.hpp"

#include <algorithm>

namespace plait::simulation {

namespace {

Slot count_slots(const CacheSettings& settings) { return static_cast<Slot>(settings.size / settings.block); }

}  // namespace

BufferCache::BufferCache(const CacheSettings& settings, EventQueue& clock, Operations& operations,
                         const FilePlacement& placement, std::uint32_t processes)
    : settings_(settings),
      clock_(clock),
      operations_(operations),
      placement_(placement),
      block_(settings.block),
      slots_(count_slots(settings)),
      ahead_(settings.read_ahead, settings.block, settings.read_ahead_size),
      table_(std::min<std::size_t>(slots_, 1U << 16)),
      file_dirty_(placement.files()),
      owned_(processes),
      file_last_write_(placement.files()) {
  if (slots_ > 0) policy_ = NamedPolicy(settings.policy).make({slots_, block_, processes});
  const std::int64_t limit = settings.process_limit / block_;
  owner_limit_ = limit == 0 || limit >= slots_ ? 0 : static_cast<Slot>(limit);
  largest_run_ = owner_limit_ != 0 ? owner_limit_ : slots_;
}

bool BufferCache::read(const Access& access) {
  needed_.clear();
  ++counts_.read_requests;
  const std::uint64_t first = first_block(access);
  const std::uint64_t end = end_block(access);
  counts_.read_blocks += static_cast<std::int64_t>(end - first);
  if (slots_ == 0) return uncached(access, false);
  bool all = true;
  Run run;
  for (std::uint64_t block = first; block < end; ++block) {
    table_.prefetch({block + 8, access.file});
    const Slot slot = table_.find({block, access.file});
    if (slot == kNoSlot) {
      all = false;
      add_missing(run, access, block, false);
      continue;
    }
    ++counts_.hit_blocks;
    Block& resident_block = blocks_[slot];
    if (resident_block.ahead) {
      resident_block.ahead = false;
      ++counts_.ahead_used;
    }
    // The program waits for a block that is being read. A block that is being written can be read meanwhile.
    if (!resident_block.dirty && operations_.running(resident_block.operation) &&
        operations_.reads(resident_block.operation))
      need(resident_block.operation);
    if (owner_limit_ != 0) owner_links_.move_to_front(owned_[resident_block.process], slot);
    policy_->hit(slot, make_use(access, block));
    toss(run);
  }
  end_run(run, access.file, true);
  if (all) ++counts_.hit_requests;
  const FileRange next = ahead_.next(access.process, access.file, access.offset, access.length);
  if (next.end > next.begin) read_ahead(access, next);
  return all;
}

void BufferCache::read_ahead(const Access& access, FileRange range) {
  // Reads neither past the end of the file, nor so much that it would evict what was just read.
  const std::int64_t end = std::min(range.end, placement_.extent(access.file));
  const std::uint64_t max_blocks = slots_ / 2;
  Run run;
  std::uint64_t count = 0;
  for (auto block = static_cast<std::uint64_t>(range.begin / block_);
       static_cast<std::int64_t>(block) * block_ < end && count < max_blocks; ++block, ++count) {
    if (table_.find({block, access.file}) != kNoSlot) continue;
    ++counts_.ahead_blocks;
    add_missing(run, access, block, true);
  }
  end_run(run, access.file, false);
}

bool BufferCache::uncached(const Access& access, bool write) {
  Run run;
  run.operation = operations_.create({placement_.address(access.file, access.offset), access.length, write, 0});
  if (write) under_write_ += access.length;
  operations_.release(run.operation);
  need(run.operation);
  return false;
}

void BufferCache::need(Operation operation) {
  if (needed_.empty() || !(needed_.back() == operation)) needed_.push_back(operation);
}

void BufferCache::add_missing(Run& run, const Access& access, std::uint64_t block, bool ahead) {
  if (run.end != block || run.end == run.first) {
    end_run(run, access.file, !ahead);
    run.first = run.end = block;
  }
  const Slot slot = bring(make_use(access, block), run);
  if (run.first == run.end) run.first = run.end = block;  // the run was ended to free a slot
  blocks_[slot].ahead = ahead;
  if (!operations_.running(run.operation))
    run.operation = operations_.create({0, 0, false, 0});  // its extent is set at the end of the run
  blocks_[slot].operation = run.operation;
  run.end = block + 1;
}

void BufferCache::end_run(Run& run, std::uint32_t file, bool wait) {
  if (run.end > run.first) {
    operations_.set_extent(run.operation, placement_.address(file, static_cast<std::int64_t>(run.first) * block_),
                           static_cast<std::int64_t>(run.end - run.first) * block_);
    for (const Operation before : run.before) operations_.order(run.operation, before);
    operations_.release(run.operation);
    if (wait) need(run.operation);
  }
  run = {};
}

Slot BufferCache::bring(const Use& use, Run& run) {
  const Slot slot = slot_for(use, run);
  blocks_[slot] = {use.key, {}, 0, use.process, false, false};
  table_.insert(use.key, slot);
  if (owner_limit_ != 0) owner_links_.add(owned_[use.process], slot);
  policy_->admit(slot, use);
  toss(run);
  return slot;
}

void BufferCache::toss(Run& run) {
  for (Slot slot = policy_->tossed(); slot != kNoSlot; slot = policy_->tossed()) {
    evict(slot, run, false);
    free_.push_back(slot);
  }
}

Slot BufferCache::slot_for(const Use& use, Run& run) {
  if (owner_limit_ != 0 && owned_[use.process].size >= owner_limit_) {
    const Slot slot = owned_[use.process].back;
    policy_->removed(slot);
    evict(slot, run);
    return slot;
  }
  const bool has_space = blocks_.size() < slots_ || !free_.empty();
  if (!has_space || policy_->at_limit(use)) {
    const Slot slot = policy_->victim(use);
    evict(slot, run);
    return slot;
  }
  if (free_.empty()) {
    blocks_.emplace_back();
    return static_cast<Slot>(blocks_.size() - 1);
  }
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

void BufferCache::evict(Slot slot, Run& run, bool for_space) {
  ++counts_.evicted;
  const Block& block = blocks_[slot];
  if (block.ahead) ++counts_.ahead_wasted;
  if (block.dirty) {
    ++counts_.evicted_dirty;
    write_out(slot);
  }
  // The slot is free when the operation on its block has ended. A block that leaves early frees a slot that no
  // operation waits for.
  if (for_space && operations_.running(block.operation)) {
    if (block.operation == run.operation) {
      // A policy may evict a block of the request that is being assembled: belady evicts the block with the most
      // distant next use.  The block's data goes to the program without being cached, and the request is not divided.
      // Only a request as large as the cache is divided, because the cache has no capacity for its end before its first
      // part has arrived.
      if (run.end - run.first >= largest_run_) {
        end_run(run, block.key.file, true);
        run.before.push_back(block.operation);
      }
    } else if (run.before.empty() || !(run.before.back() == block.operation)) {
      run.before.push_back(block.operation);
    }
  }
  drop(slot);
}

void BufferCache::drop(Slot slot) {
  const Block& block = blocks_[slot];
  if (owner_limit_ != 0) owner_links_.erase(owned_[block.process], slot);
  table_.erase(block.key);
}

void BufferCache::write(const Access& access) {
  needed_.clear();
  const std::uint64_t first = first_block(access);
  const std::uint64_t end = end_block(access);
  counts_.written_blocks += static_cast<std::int64_t>(end - first);
  if (slots_ == 0) {
    uncached(access, true);
    if (access.durable) flush_device();
    return;
  }
  const bool through = settings_.write == WriteKind::kThrough;
  bool bypass = through;
  Run run;  // only collects the operations that must end first
  for (std::uint64_t block = first; block < end; ++block) {
    Slot slot = table_.find({block, access.file});
    const Use use = make_use(access, block);
    if (slot != kNoSlot) {
      blocks_[slot].ahead = false;
      if (owner_limit_ != 0) owner_links_.move_to_front(owned_[blocks_[slot].process], slot);
      policy_->hit(slot, use);
      toss(run);
    } else if (settings_.write_allocate) {
      slot = bring(use, run);
    } else {
      bypass = true;
      continue;
    }
    if (through || table_.find(use.key) == kNoSlot) continue;
    if (blocks_[slot].dirty)
      ++counts_.overwritten_blocks;
    else
      set_dirty(slot);
  }
  for (const Operation before : run.before) need(before);
  if (bypass) uncached(access, true);
  if (access.durable)
    write_through(access, first, end);
  else if (settings_.write == WriteKind::kBehind)
    write_out_range(access.file, first, end);
  hold_limits();
}

/// Writes the blocks of a durable write, and waits for them and for a flush of the device.
void BufferCache::write_through(const Access& access, std::uint64_t first, std::uint64_t end) {
  write_out_range(access.file, first, end);
  for (std::uint64_t block = first; block < end; ++block) {
    const Block* resident_block = resident(access.file, block);
    if (resident_block != nullptr && operations_.running(resident_block->operation)) need(resident_block->operation);
  }
  flush_device();
}

/// Orders a flush of the device after everything that the program waits for. The program then waits only for the
/// flush.
void BufferCache::flush_device() {
  if (!settings_.flush) return;
  const Operation flush = operations_.create({0, 0, true, 0, true});
  for (const Operation operation : needed_) operations_.order(flush, operation);
  operations_.release(flush);
  needed_.assign(1, flush);
}

void BufferCache::set_dirty(Slot slot) {
  Block& block = blocks_[slot];
  block.dirty = true;
  block.dirty_since = clock_.now();
  age_links_.add(oldest_, slot);
  file_links_.add(file_dirty_[block.key.file], slot);
  if (settings_.write == WriteKind::kDelayed && !flushing_) {
    flushing_ = true;
    clock_.schedule(clock_.now() + settings_.flush_interval, *this);
  }
}

void BufferCache::set_clean(Slot slot) {
  Block& block = blocks_[slot];
  block.dirty = false;
  age_links_.erase(oldest_, slot);
  file_links_.erase(file_dirty_[block.key.file], slot);
}

void BufferCache::write_out(Slot slot) {
  // Dirty neighbours are written with it, up to the largest request.
  const BlockKey key = blocks_[slot].key;
  const auto max_blocks = static_cast<std::uint64_t>(std::max<std::int64_t>(settings_.coalesce / block_, 1));
  const auto dirty = [&](std::uint64_t block) {
    const Block* resident_block = resident(key.file, block);
    return resident_block != nullptr && resident_block->dirty;
  };
  std::uint64_t first = key.block;
  std::uint64_t end = key.block + 1;
  while (end - first < max_blocks && dirty(end)) ++end;
  while (end - first < max_blocks && first > 0 && dirty(first - 1)) --first;
  const Operation operation =
      operations_.create({placement_.address(key.file, static_cast<std::int64_t>(first) * block_),
                          static_cast<std::int64_t>(end - first) * block_, true, 0});
  for (std::uint64_t block = first; block < end; ++block) {
    const Slot block_slot = block == key.block ? slot : table_.find({block, key.file});
    set_clean(block_slot);
    operations_.order(operation, blocks_[block_slot].operation);
    blocks_[block_slot].operation = operation;
  }
  under_write_ += static_cast<std::int64_t>(end - first) * block_;
  last_write_ = file_last_write_[key.file] = operation;
  operations_.release(operation);
}

void BufferCache::write_out_range(std::uint32_t file, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t block = first; block < end; ++block) {
    const Slot slot = table_.find({block, file});
    if (slot != kNoSlot && blocks_[slot].dirty) write_out(slot);
  }
}

void BufferCache::hold_limits() {
  const double start = settings_.dirty_start * static_cast<double>(slots_);
  if (settings_.dirty_start < 1)
    while (oldest_.size > start) write_out(oldest_.back);
  if (settings_.dirty_limit >= 1) return;
  const double limit = settings_.dirty_limit * static_cast<double>(slots_) * static_cast<double>(block_);
  if (static_cast<double>(dirty_bytes() + under_write_) <= limit) return;
  while (oldest_.size > 0 && static_cast<double>(dirty_bytes()) > limit / 2) write_out(oldest_.back);
  if (!operations_.running(last_write_)) return;
  ++counts_.limited;
  need(last_write_);
}

void BufferCache::sync(std::uint32_t file) {
  needed_.clear();
  SlotList& dirty = file_dirty_[file];
  while (!dirty.empty()) {
    const Slot slot = dirty.back;
    write_out(slot);
    need(blocks_[slot].operation);
  }
  if (operations_.running(file_last_write_[file])) need(file_last_write_[file]);
  flush_device();
}

void BufferCache::truncate(std::uint32_t file, std::int64_t size) {
  needed_.clear();
  if (slots_ == 0) return;
  const auto end = static_cast<std::uint64_t>(placement_.extent(file) / block_);
  const auto first = static_cast<std::uint64_t>(size / block_ + (size % block_ != 0 ? 1 : 0));
  if (first >= end) return;
  if (end - first <= blocks_.size()) {
    for (std::uint64_t block = first; block < end; ++block) {
      const Slot slot = table_.find({block, file});
      if (slot != kNoSlot) discard(slot);
    }
    return;
  }
  for (Slot slot = 0; slot < blocks_.size(); ++slot) {
    const BlockKey key = blocks_[slot].key;
    if (key.file == file && key.block >= first && table_.find(key) == slot) discard(slot);
  }
}

void BufferCache::discard(Slot slot) {
  if (blocks_[slot].dirty) {
    ++counts_.discarded;
    set_clean(slot);
  }
  policy_->removed(slot);
  drop(slot);
  free_.push_back(slot);
}

void BufferCache::flush() {
  while (oldest_.size > 0) write_out(oldest_.back);
}

void BufferCache::fire(std::uint64_t) {
  while (oldest_.size > 0 && clock_.now() - blocks_[oldest_.back].dirty_since >= settings_.delay)
    write_out(oldest_.back);
  flushing_ = oldest_.size > 0;
  if (flushing_) clock_.schedule(clock_.now() + settings_.flush_interval, *this);
}

}  // namespace plait::simulation
