// The path of a request through the simulated buffer cache.
//
// Problem: a cache decides three things that a count of hits does not show: which missing blocks one device request
// reads, when dirty blocks are written, and what a program waits for meanwhile.
//
// Idea: each block remembers the device operation that reads or writes it. A read iterates over its blocks. Adjacent
// missing blocks are collected in a Run, which becomes one operation when the next missing block does not follow it,
// or when the request ends. An operation that needs the slot of a block in transfer is ordered after that block's
// operation. needed_ contains the operations that the program waits for; all others continue in the background.
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
      read_ahead_(settings.read_ahead, settings.block, settings.read_ahead_size),
      table_(std::min<std::size_t>(slots_, 1U << 16)),
      dirty_by_file_(placement.files()),
      blocks_by_process_(processes),
      file_last_write_(placement.files()) {
  if (slots_ > 0) policy_ = NamedPolicy(settings.policy).make({slots_, block_, processes});
  const std::int64_t limit = settings.process_limit / block_;
  process_limit_ = limit == 0 || limit >= slots_ ? 0 : static_cast<Slot>(limit);
  max_run_blocks_ = process_limit_ != 0 ? process_limit_ : slots_;
}

bool BufferCache::read(const Access& access) {
  needed_.clear();
  ++counts_.read_requests;
  const std::uint64_t first = first_block(access);
  const std::uint64_t end = end_block(access);
  counts_.read_blocks += static_cast<std::int64_t>(end - first);
  if (slots_ == 0) return access_device(access, /*write=*/false);
  bool all_hit = true;
  Run run;
  for (std::uint64_t block = first; block < end; ++block) {
    table_.prefetch({block + 8, access.file});
    const Slot slot = table_.find({block, access.file});
    if (slot == kNoSlot) {
      all_hit = false;
      add_missing(run, access, block, /*ahead=*/false);
      continue;
    }
    ++counts_.hit_blocks;
    Block& resident_block = blocks_[slot];
    if (resident_block.ahead) {
      resident_block.ahead = false;
      ++counts_.ahead_used;
    }
    // The program waits for a block that is being read. A block that is being written can be read meanwhile.
    if (!resident_block.dirty && operations_.is_running(resident_block.operation) &&
        operations_.is_read(resident_block.operation))
      need(resident_block.operation);
    if (process_limit_ != 0) process_links_.move_to_front(blocks_by_process_[resident_block.process], slot);
    policy_->hit(slot, make_use(access, block));
    evict_tossed(run);
  }
  end_run(run, access.file, /*wait=*/true);
  if (all_hit) ++counts_.hit_requests;
  const FileRange predicted = read_ahead_.predict(access.process, access.file, access.offset, access.length);
  if (predicted.end > predicted.begin) read_ahead(access, predicted);
  return all_hit;
}

void BufferCache::read_ahead(const Access& access, FileRange range) {
  // Reads neither past the end of the file, nor so much that it would evict what was just read.
  const std::int64_t end = std::min(range.end, placement_.file_size(access.file));
  const std::uint64_t max_blocks = slots_ / 2;
  Run run;
  std::uint64_t count = 0;
  for (auto block = static_cast<std::uint64_t>(range.begin / block_);
       static_cast<std::int64_t>(block) * block_ < end && count < max_blocks; ++block, ++count) {
    if (table_.find({block, access.file}) != kNoSlot) continue;
    ++counts_.ahead_blocks;
    add_missing(run, access, block, /*ahead=*/true);
  }
  end_run(run, access.file, /*wait=*/false);
}

bool BufferCache::access_device(const Access& access, bool write) {
  Run run;
  run.operation = operations_.create({placement_.address(access.file, access.offset), access.length, write, 0});
  if (write) bytes_under_write_ += access.length;
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
  const Slot slot = admit_block(make_use(access, block), run);
  if (run.first == run.end) run.first = run.end = block;  // the run was ended to free a slot
  blocks_[slot].ahead = ahead;
  if (!operations_.is_running(run.operation))
    run.operation = operations_.create({});  // its extent is set at the end of the run
  blocks_[slot].operation = run.operation;
  run.end = block + 1;
}

void BufferCache::end_run(Run& run, std::uint32_t file, bool wait) {
  if (run.end > run.first) {
    operations_.set_extent(run.operation, placement_.address(file, static_cast<std::int64_t>(run.first) * block_),
                           static_cast<std::int64_t>(run.end - run.first) * block_);
    for (const Operation before : run.before) operations_.run_after(run.operation, before);
    operations_.release(run.operation);
    if (wait) need(run.operation);
  }
  run = {};
}

Slot BufferCache::admit_block(const Use& use, Run& run) {
  const Slot slot = allocate_slot(use, run);
  blocks_[slot] = {use.key, {}, 0, use.process, false, false};
  table_.insert(use.key, slot);
  if (process_limit_ != 0) process_links_.add(blocks_by_process_[use.process], slot);
  policy_->admit(slot, use);
  evict_tossed(run);
  return slot;
}

void BufferCache::evict_tossed(Run& run) {
  for (Slot slot = policy_->tossed(); slot != kNoSlot; slot = policy_->tossed()) {
    evict(slot, run, /*for_space=*/false);
    free_.push_back(slot);
  }
}

Slot BufferCache::allocate_slot(const Use& use, Run& run) {
  if (process_limit_ != 0 && blocks_by_process_[use.process].size >= process_limit_) {
    const Slot slot = blocks_by_process_[use.process].back;
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
  if (for_space && operations_.is_running(block.operation)) {
    if (block.operation == run.operation) {
      // A policy may evict a block of the request that is being assembled: belady evicts the block with the most
      // distant next use.  The block's data goes to the program without being cached, and the request is not divided.
      // Only a request as large as the cache is divided, because the cache has no capacity for its end before its first
      // part has arrived.
      if (run.end - run.first >= max_run_blocks_) {
        end_run(run, block.key.file, /*wait=*/true);
        run.before.push_back(block.operation);
      }
    } else if (run.before.empty() || !(run.before.back() == block.operation)) {
      run.before.push_back(block.operation);
    }
  }
  remove_from_tables(slot);
}

void BufferCache::remove_from_tables(Slot slot) {
  const Block& block = blocks_[slot];
  if (process_limit_ != 0) process_links_.erase(blocks_by_process_[block.process], slot);
  table_.erase(block.key);
}

void BufferCache::write(const Access& access) {
  needed_.clear();
  const std::uint64_t first = first_block(access);
  const std::uint64_t end = end_block(access);
  counts_.written_blocks += static_cast<std::int64_t>(end - first);
  if (slots_ == 0) {
    access_device(access, /*write=*/true);
    if (access.durable) flush_device();
    return;
  }
  const bool through = settings_.write == WriteKind::kThrough;
  bool writes_directly = through;
  Run run;  // used only to collect the operations that must end before the write
  for (std::uint64_t block = first; block < end; ++block) {
    Slot slot = table_.find({block, access.file});
    const Use use = make_use(access, block);
    if (slot != kNoSlot) {
      blocks_[slot].ahead = false;
      if (process_limit_ != 0) process_links_.move_to_front(blocks_by_process_[blocks_[slot].process], slot);
      policy_->hit(slot, use);
      evict_tossed(run);
    } else if (settings_.write_allocate) {
      slot = admit_block(use, run);
    } else {
      writes_directly = true;
      continue;
    }
    if (through || table_.find(use.key) == kNoSlot) continue;
    if (blocks_[slot].dirty)
      ++counts_.overwritten_blocks;
    else
      set_dirty(slot);
  }
  for (const Operation before : run.before) need(before);
  if (writes_directly) access_device(access, /*write=*/true);
  if (access.durable)
    write_through(access, first, end);
  else if (settings_.write == WriteKind::kBehind)
    write_out_range(access.file, first, end);
  write_out_above_limits();
}

/// Writes the blocks of a durable write, and waits for them and for a flush of the device.
void BufferCache::write_through(const Access& access, std::uint64_t first, std::uint64_t end) {
  write_out_range(access.file, first, end);
  for (std::uint64_t block = first; block < end; ++block) {
    const Block* resident_block = resident(access.file, block);
    if (resident_block != nullptr && operations_.is_running(resident_block->operation)) need(resident_block->operation);
  }
  flush_device();
}

/// Orders a flush of the device after everything that the program waits for. The program then waits only for the
/// flush.
void BufferCache::flush_device() {
  if (!settings_.flush) return;
  const Operation flush = operations_.create({.write = true, .flush = true});
  for (const Operation operation : needed_) operations_.run_after(flush, operation);
  operations_.release(flush);
  needed_.assign(1, flush);
}

void BufferCache::set_dirty(Slot slot) {
  Block& block = blocks_[slot];
  block.dirty = true;
  block.dirty_since = clock_.now();
  age_links_.add(dirty_by_age_, slot);
  file_links_.add(dirty_by_file_[block.key.file], slot);
  if (settings_.write == WriteKind::kDelayed && !age_check_scheduled_) {
    age_check_scheduled_ = true;
    clock_.schedule(clock_.now() + settings_.flush_interval, *this);
  }
}

void BufferCache::set_clean(Slot slot) {
  Block& block = blocks_[slot];
  block.dirty = false;
  age_links_.erase(dirty_by_age_, slot);
  file_links_.erase(dirty_by_file_[block.key.file], slot);
}

void BufferCache::write_out(Slot slot) {
  // One request also writes the dirty neighbours of the block, up to `coalesce` bytes.
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
    operations_.run_after(operation, blocks_[block_slot].operation);
    blocks_[block_slot].operation = operation;
  }
  bytes_under_write_ += static_cast<std::int64_t>(end - first) * block_;
  last_write_ = file_last_write_[key.file] = operation;
  operations_.release(operation);
}

void BufferCache::write_out_range(std::uint32_t file, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t block = first; block < end; ++block) {
    const Slot slot = table_.find({block, file});
    if (slot != kNoSlot && blocks_[slot].dirty) write_out(slot);
  }
}

void BufferCache::write_out_above_limits() {
  const double start = settings_.dirty_start * static_cast<double>(slots_);
  if (settings_.dirty_start < 1)
    while (dirty_by_age_.size > start) write_out(dirty_by_age_.back);
  if (settings_.dirty_limit >= 1) return;
  const double limit = settings_.dirty_limit * static_cast<double>(slots_) * static_cast<double>(block_);
  if (static_cast<double>(dirty_bytes() + bytes_under_write_) <= limit) return;
  while (dirty_by_age_.size > 0 && static_cast<double>(dirty_bytes()) > limit / 2) write_out(dirty_by_age_.back);
  if (!operations_.is_running(last_write_)) return;
  ++counts_.limited;
  need(last_write_);
}

void BufferCache::sync(std::uint32_t file) {
  needed_.clear();
  SlotList& dirty = dirty_by_file_[file];
  while (!dirty.empty()) {
    const Slot slot = dirty.back;
    write_out(slot);
    need(blocks_[slot].operation);
  }
  if (operations_.is_running(file_last_write_[file])) need(file_last_write_[file]);
  flush_device();
}

void BufferCache::truncate(std::uint32_t file, std::int64_t size) {
  needed_.clear();
  if (slots_ == 0) return;
  const auto end = static_cast<std::uint64_t>(placement_.file_size(file) / block_);
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
  remove_from_tables(slot);
  free_.push_back(slot);
}

void BufferCache::flush() {
  while (dirty_by_age_.size > 0) write_out(dirty_by_age_.back);
}

void BufferCache::fire(std::uint64_t) {
  while (dirty_by_age_.size > 0 && clock_.now() - blocks_[dirty_by_age_.back].dirty_since >= settings_.delay)
    write_out(dirty_by_age_.back);
  age_check_scheduled_ = dirty_by_age_.size > 0;
  if (age_check_scheduled_) clock_.schedule(clock_.now() + settings_.flush_interval, *this);
}

}  // namespace plait::simulation
