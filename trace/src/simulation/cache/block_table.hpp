/// A hash table from a block to its slot (its index among the blocks in the cache).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// Uses open addressing with linear probing and is at most half full. An entry takes 16 bytes, so four of them share a
/// cache line. erase() moves later entries into the hole instead of leaving a marker, so lookups stay equally fast
/// after many erasures.
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
    for (std::size_t index = bucket(key);; index = (index + 1) & mask_) {
      const Entry& entry = entries_[index];
      if (entry.slot == kNoSlot || has_key(entry, key)) return entry.slot;
    }
  }

  /// Prefetches the entry that find() will read.
  void prefetch(BlockKey key) const noexcept { __builtin_prefetch(&entries_[bucket(key)]); }

  /// Adds a block that is not in the table. `slot` is not kNoSlot.
  void insert(BlockKey key, Slot slot) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    insert_entry({key.block, key.file, slot});
    ++size_;
  }

  /// Changes the slot of a block that is in the table.
  void move(BlockKey key, Slot slot) noexcept { entries_[find_index(key)].slot = slot; }

  /// Removes a block that is in the table.
  void erase(BlockKey key) noexcept {
    std::size_t hole = find_index(key);
    for (std::size_t index = (hole + 1) & mask_; entries_[index].slot != kNoSlot; index = (index + 1) & mask_) {
      const std::size_t first_bucket = bucket({entries_[index].block, entries_[index].file});
      // find() starts at the bucket of a key and stops at the first free entry. So an entry whose bucket is after the
      // hole must stay: an entry at index 6 with bucket 5 cannot fill a hole at 3, because find() starts at 5.
      if (((index - first_bucket) & mask_) < ((index - hole) & mask_)) continue;
      entries_[hole] = entries_[index];
      hole = index;
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

  static bool has_key(const Entry& entry, BlockKey key) noexcept {
    return entry.block == key.block && entry.file == key.file;
  }

  /// Returns the index at which the search for a block begins. The hash spreads neighbouring blocks: the upper bits of
  /// a product depend on all bits of its factors, so the upper bits select the bucket.
  std::size_t bucket(BlockKey key) const noexcept {
    std::uint64_t mixed = (key.block + (std::uint64_t{key.file} << 40)) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return static_cast<std::size_t>(mixed >> 32) & mask_;
  }

  std::size_t find_index(BlockKey key) const noexcept {
    std::size_t index = bucket(key);
    while (!has_key(entries_[index], key) || entries_[index].slot == kNoSlot) index = (index + 1) & mask_;
    return index;
  }

  void insert_entry(const Entry& entry) noexcept {
    std::size_t index = bucket({entry.block, entry.file});
    while (entries_[index].slot != kNoSlot) index = (index + 1) & mask_;
    entries_[index] = entry;
  }

  void grow() {
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    mask_ = entries_.size() - 1;
    for (const Entry& entry : old)
      if (entry.slot != kNoSlot) insert_entry(entry);
  }

  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace plait::simulation
