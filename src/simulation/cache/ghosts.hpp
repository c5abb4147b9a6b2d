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

/// For policies that look at a miss whether they remember the block: they do so in victim() or, where there is room, in
/// admit(), but only once for each miss.
class OncePerMiss {
 public:
  /// In victim() and in admit(): whether nothing was looked up for this miss yet.
  bool first(BlockKey key) noexcept {
    if (looked_ && key == key_) return false;
    looked_ = true;
    key_ = key;
    return true;
  }
  /// At the end of admit().
  void end() noexcept { looked_ = false; }

 private:
  BlockKey key_;
  bool looked_ = false;
};

}  // namespace plait::simulation
