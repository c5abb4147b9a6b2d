/// Optimal replacement: no policy that brings every used block into the cache has more hits. Source: L. A. Belady, "A
/// study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966. It replaces the
/// block whose next use is last. Among blocks that are never used again, the choice does not matter.
///
/// A binary heap orders the resident blocks by their next use. Example: blocks with next uses 7, 12 and 9: the one
/// with 12 is on top and is replaced first.
#include <vector>

#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Belady final : public Policy {
 public:
  Belady(const CacheShape&, const Parameters&) {}

  void hit(Slot slot, const Use& use) override {
    next_[slot] = use.next;
    rise(position_[slot]);  // a use only increases the next use of its block, so the block can only rise
  }
  void admit(Slot slot, const Use& use) override {
    next_.find_or_create(slot) = use.next;
    position_.find_or_create(slot) = heap_.size();
    heap_.push_back(slot);
    rise(heap_.size() - 1);
  }
  Slot victim(const Use&) override {
    const Slot slot = heap_.front();
    erase(0);
    return slot;
  }
  void removed(Slot slot) override { erase(position_[slot]); }

 private:
  void put(std::size_t index, Slot slot) {
    heap_[index] = slot;
    position_[slot] = index;
  }

  void rise(std::size_t index) {
    const Slot slot = heap_[index];
    for (; index > 0 && next_[heap_[(index - 1) / 2]] < next_[slot]; index = (index - 1) / 2)
      put(index, heap_[(index - 1) / 2]);
    put(index, slot);
  }

  void sink(std::size_t index) {
    const Slot slot = heap_[index];
    for (std::size_t child = 2 * index + 1; child < heap_.size(); child = 2 * index + 1) {
      if (child + 1 < heap_.size() && next_[heap_[child + 1]] > next_[heap_[child]]) ++child;
      if (next_[heap_[child]] <= next_[slot]) break;
      put(index, heap_[child]);
      index = child;
    }
    put(index, slot);
  }

  void erase(std::size_t index) {
    const Slot last = heap_.back();
    heap_.pop_back();
    if (index == heap_.size()) return;
    put(index, last);
    rise(index);
    sink(position_[last]);
  }

  SlotTable<std::int64_t> next_;
  SlotTable<std::size_t> position_;  // position in the heap
  std::vector<Slot> heap_;           // the block whose next use is last is at index 0
};

}  // namespace

const PolicyKind& belady() {
  static const PolicyKind kKind = policy_kind<Belady>(
      "belady", "the one used again last, as only the rest of the trace tells", {}, Foresight::kNext);
  return kKind;
}

}  // namespace plait::simulation
