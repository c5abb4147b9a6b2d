/// Second chance: a hand moves around the blocks. Source: F. J. Corbató, "A paging experiment with the Multics
/// system", MIT Project MAC report MAC-M-384, 1968, with one bit a block.
///
/// The bit is clear when a block arrives, and set when it is used again. The hand passes over blocks whose bit is set
/// and clears it. It replaces the first block with a clear bit, and the new block is inserted right after the hand,
/// where the hand reaches it last.
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Clock final : public Policy {
 public:
  Clock(const CacheShape&, const Parameters&) {}

  void hit(Slot slot, const Use&) override { is_used_[slot] = 1; }
  void admit(Slot slot, const Use&) override {
    is_used_.find_or_create(slot) = 0;
    links_.add(list_, slot);
  }
  Slot victim(const Use&) override {
    while (is_used_[list_.back] != 0) {
      is_used_[list_.back] = 0;
      links_.move_to_front(list_, list_.back);
    }
    return links_.pop_back(list_);
  }
  void removed(Slot slot) override { links_.erase(list_, slot); }

 private:
  SlotLinks links_;
  SlotList list_;  // the hand points at the back
  SlotTable<std::uint8_t> is_used_;
};

}  // namespace

const PolicyKind& clock() {
  static const PolicyKind kKind =
      policy_kind<Clock>("clock", "the first that the hand finds unused since it last passed");
  return kKind;
}

}  // namespace plait::simulation
