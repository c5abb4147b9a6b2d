/// Blocks that have left a cache and are remembered for a while.
#pragma once

#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

/// A queue of blocks without their data, the oldest of which is forgotten first.
/// cost  O(1) each.  memory  about 70 bytes a block, as many as were ever in it at once.
class Ghosts {
 public:
  Slot size() const noexcept { return list_.size; }

  /// Remembers a block that is not remembered.
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

  /// Forgets a block; false: it was not remembered.
  bool erase(BlockKey key) {
    const Slot entry = table_.find(key);
    if (entry == kNoSlot) return false;
    table_.erase(key);
    links_.erase(list_, entry);
    free_.push_back(entry);
    return true;
  }

  /// Forgets the oldest; there is one.
  void pop() { erase(keys_[list_.back]); }

 private:
  SlotLinks links_;
  SlotList list_;
  BlockTable table_;
  std::vector<BlockKey> keys_;
  std::vector<Slot> free_;
};

/// For policies that look at a miss whether they remember the block: they do so in victim() and, where no block had to go
/// for this one, in admit().
class Miss {
 public:
  /// In victim().
  void begin(BlockKey key) noexcept {
    key_ = key;
    begun_ = true;
  }
  /// In admit(): whether the miss began in victim().
  bool end(BlockKey key) noexcept {
    const bool same = begun_ && key == key_;
    begun_ = false;
    return same;
  }

 private:
  BlockKey key_;
  bool begun_ = false;
};

}  // namespace plait::simulation
