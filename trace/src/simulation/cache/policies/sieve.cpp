/// SIEVE. Source: Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson and K. V. Rashmi, "SIEVE is simpler than LRU: an efficient
/// turn-key eviction algorithm for web caches", NSDI 2024, algorithm 1.
///
/// A hand passes over blocks that were used and clears their bits, as in CLOCK. Unlike in CLOCK, these blocks stay
/// where they are in the queue, and new blocks enter at the front of the queue, not after the hand.
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Sieve final : public Policy {
 public:
  Sieve(const CacheShape&, const Parameters&) {}

  void hit(Slot slot, const Use&) override { is_used_[slot] = 1; }
  void admit(Slot slot, const Use&) override {
    is_used_.find_or_create(slot) = 0;
    links_.add(list_, slot);
  }
  Slot victim(const Use&) override {
    Slot slot = hand_ == kNoSlot ? list_.back : hand_;
    while (is_used_[slot] != 0) {
      is_used_[slot] = 0;
      slot = links_.newer(slot);
      if (slot == kNoSlot) slot = list_.back;
    }
    hand_ = links_.newer(slot);
    links_.erase(list_, slot);
    return slot;
  }
  void removed(Slot slot) override {
    if (hand_ == slot) hand_ = links_.newer(slot);
    links_.erase(list_, slot);
  }

 private:
  SlotLinks links_;
  SlotList list_;  // the newest block is at the front
  SlotTable<std::uint8_t> is_used_;
  Slot hand_ = kNoSlot;  // kNoSlot: the hand is at the oldest block
};

}  // namespace

const PolicyKind& sieve() {
  static const PolicyKind kKind = policy_kind<Sieve>(
      "sieve", "the first that a hand, from the oldest to the newest, finds unused since it last passed");
  return kKind;
}

}  // namespace plait::simulation
