/// Arrays and lists with an entry for each slot of a cache. They grow with the slots that are used, so a large capacity
/// of which little is used costs no memory.
#pragma once

#include <cstddef>
#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// Values by slot.
template <typename Value>
class SlotTable {
 public:
  /// The value of a slot that has one.
  Value& operator[](Slot slot) noexcept { return values_[slot]; }
  const Value& operator[](Slot slot) const noexcept { return values_[slot]; }

  /// Returns the value of a slot, which is created with a default value if there is none yet.
  Value& find_or_create(Slot slot) {
    if (slot >= values_.size()) values_.resize(slot + std::size_t{1});
    return values_[slot];
  }

 private:
  std::vector<Value> values_;
};

/// The ends of a list. Its newest slot is at the front.
struct SlotList {
  Slot front = kNoSlot;
  Slot back = kNoSlot;
  Slot size = 0;

  bool empty() const noexcept { return size == 0; }
};

/// The links of several doubly linked lists of slots, stored in one array. A slot is in at most one list.
/// cost  O(1) each.
/// memory  8 bytes a slot.
class SlotLinks {
 public:
  /// Adds a slot that is in no list at the front.
  void add(SlotList& list, Slot slot) {
    links_.find_or_create(slot);
    push_front(list, slot);
  }

  /// Adds a slot at the front. The slot must have been in a list before.
  void push_front(SlotList& list, Slot slot) noexcept {
    links_[slot] = {kNoSlot, list.front};
    (list.front == kNoSlot ? list.back : links_[list.front].newer) = slot;
    list.front = slot;
    ++list.size;
  }

  void erase(SlotList& list, Slot slot) noexcept {
    const Link link = links_[slot];
    (link.newer == kNoSlot ? list.front : links_[link.newer].older) = link.older;
    (link.older == kNoSlot ? list.back : links_[link.older].newer) = link.newer;
    --list.size;
  }

  /// Removes the last slot of a list that is not empty.
  Slot pop_back(SlotList& list) noexcept {
    const Slot slot = list.back;
    erase(list, slot);
    return slot;
  }

  void move_to_front(SlotList& list, Slot slot) noexcept {
    if (list.front == slot) return;
    erase(list, slot);
    push_front(list, slot);
  }

  /// Returns the next slot towards the front; kNoSlot after the newest.
  Slot newer(Slot slot) const noexcept { return links_[slot].newer; }

 private:
  struct Link {
    Slot newer = kNoSlot;
    Slot older = kNoSlot;
  };
  SlotTable<Link> links_;
};

}  // namespace plait::simulation
