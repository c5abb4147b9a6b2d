/// Doubly linked lists of slots, whose links lie in one array: a slot is in at most one of them.
#pragma once

#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// Ends of a list; its newest slot is at the front.
struct SlotList {
  Slot front = kNoSlot;
  Slot back = kNoSlot;
  Slot size = 0;

  bool empty() const noexcept { return size == 0; }
};

/// cost  O(1) each.  memory  8 bytes a slot.
class SlotLinks {
 public:
  explicit SlotLinks(Slot slots) : links_(slots) {}

  /// One slot more.
  void grow() { links_.emplace_back(); }

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

  /// Of a list that is not empty.
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

  /// Towards the front; kNoSlot behind the newest.
  Slot newer(Slot slot) const noexcept { return links_[slot].newer; }

 private:
  struct Link {
    Slot newer = kNoSlot;
    Slot older = kNoSlot;
  };
  std::vector<Link> links_;
};

}  // namespace plait::simulation
