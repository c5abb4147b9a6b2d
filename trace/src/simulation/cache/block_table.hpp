/// A hash table from a block to its slot in the cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// Uses open addressing with linear probing and is at most half full. An entry takes 16 bytes, so that four share a
/// cache line. erase() moves later entries into the hole instead of leaving a marker, so that lookups do not slow
/// down with age.
/// cost  O(1) expected.
/// memory  32 to 64 bytes a block.
/// threads  one at a time.
class BlockTable {
 public:
  /// capacity  expected number of blocks; the table grows if there are more.
  explicit BlockTable(std::size_t capacity = 0)
      : entries_(std::bit_ceil(2 * capacity + 2)), mask_(entries_.size() - 1) {}

  std::size_t size() const noexcept { return size_; }

  /// Returns the slot of a block; kNoSlot: the block is not in the table.
  Slot find(BlockKey key) const noexcept {
    for (std::size_t at = bucket(key);; at = (at + 1) & mask_) {
      const Entry& entry = entries_[at];
      if (entry.slot == kNoSlot || is(entry, key)) return entry.slot;
    }
  }

  /// Prefetches the entry that find() will read.
  void prefetch(BlockKey key) const noexcept { __builtin_prefetch(&entries_[bucket(key)]); }

  /// Adds a block that is not in the table. `slot` is not kNoSlot.
  void insert(BlockKey key, Slot slot) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    put({key.block, key.file, slot});
    ++size_;
  }

  /// Changes the slot of a block that is in the table.
  void move(BlockKey key, Slot slot) noexcept { entries_[position(key)].slot = slot; }

  /// Removes a block that is in the table.
  void erase(BlockKey key) noexcept {
    std::size_t hole = position(key);
    for (std::size_t at = (hole + 1) & mask_; entries_[at].slot != kNoSlot; at = (at + 1) & mask_) {
      const std::size_t first_bucket = bucket({entries_[at].block, entries_[at].file});
      // find() starts at the bucket of an entry and stops at the first free one. So an entry whose bucket is after
      // the hole must stay: with its bucket at 5 and itself at 6, it cannot fill a hole at 3.
      if (((at - first_bucket) & mask_) < ((at - hole) & mask_)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].slot = kNoSlot;
    --size_;
  }

 private:
  struct Entry {
    std::uint64_t block = 0;
    std::uint32_t file = 0;
    Slot slot = kNoSlot;
  };
  static_assert(sizeof(Entry) == 16);

  static bool is(const Entry& entry, BlockKey key) noexcept {
    return entry.block == key.block && entry.file == key.file;
  }

  /// Spreads neighbouring blocks. The upper bits of a product depend on all bits of its factors, so these select the
  /// bucket.
  std::size_t bucket(BlockKey key) const noexcept {
    std::uint64_t mixed = (key.block + (std::uint64_t{key.file} << 40)) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return static_cast<std::size_t>(mixed >> 32) & mask_;
  }

  std::size_t position(BlockKey key) const noexcept {
    std::size_t at = bucket(key);
    while (!is(entries_[at], key) || entries_[at].slot == kNoSlot) at = (at + 1) & mask_;
    return at;
  }

  void put(const Entry& entry) noexcept {
    std::size_t at = bucket({entry.block, entry.file});
    while (entries_[at].slot != kNoSlot) at = (at + 1) & mask_;
    entries_[at] = entry;
  }

  void grow() {
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    mask_ = entries_.size() - 1;
    for (const Entry& entry : old)
      if (entry.slot != kNoSlot) put(entry);
  }

  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace plait::simulation
