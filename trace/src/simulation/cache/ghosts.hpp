/// Ghosts, in the words of papers on caching: blocks that have left a cache but are remembered for a while.
#pragma once

#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

/// A queue of blocks without their data. The oldest one is discarded first.
/// cost  O(1) each.
/// memory  about 70 bytes a block, for the largest number of blocks at any time.
class Ghosts {
 public:
  Slot size() const noexcept { return list_.size; }

  /// Adds a block that is not in the queue.
  void push(BlockKey key) {
    Slot entry = static_cast<Slot>(keys_.size());
    if (free_.empty()) {
      keys_.push_back(key);
    } else {
      entry = free_.back();
      free_.pop_back();
      keys_[entry] = key;
    }
    links_.add(list_, entry);
    table_.insert(key, entry);
  }

  /// Removes a block; false: it was not in the queue.
  bool erase(BlockKey key) {
    const Slot entry = table_.find(key);
    if (entry == kNoSlot) return false;
    table_.erase(key);
    links_.erase(list_, entry);
    free_.push_back(entry);
    return true;
  }

  /// Removes the oldest block. The queue is not empty.
  void pop() { erase(keys_[list_.back]); }

 private:
  SlotLinks links_;
  SlotList list_;
  BlockTable table_;
  std::vector<BlockKey> keys_;
  std::vector<Slot> free_;
};

/// Records whether a miss began in victim(). A policy that looks up a missing block among the remembered ones does so
/// once for each miss: in victim(), or in admit() if no block had to leave and victim() was not called.
class PendingMiss {
 public:
  /// Begins a miss; called in victim().
  void begin(BlockKey key) noexcept {
    key_ = key;
    begun_ = true;
  }
  /// Ends a miss; called in admit(). Returns true if begin() was called for this block.
  bool end(BlockKey key) noexcept {
    const bool began_in_victim = begun_ && key == key_;
    begun_ = false;
    return began_in_victim;
  }

 private:
  BlockKey key_;
  bool begun_ = false;
};

}  // namespace plait::simulation
