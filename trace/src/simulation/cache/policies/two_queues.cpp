/// 2Q in its full version. Source: T. Johnson and D. Shasha, "2Q: a low overhead high performance buffer management
/// replacement algorithm", VLDB 1994, section 2.3. New blocks enter a queue A1in. Blocks that leave it are remembered
/// in A1out. A miss on a remembered block inserts it into Am, which is managed by LRU.
///
/// A use of a block in A1in does not move it. A block that returns from A1out is removed there before a victim is
/// chosen.
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/ghosts.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class TwoQueues final : public Policy {
 public:
  TwoQueues(const CacheShape& shape, const Parameters& parameters)
      : max_in_(parameters.blocks("in", shape)), max_out_(parameters.blocks("out", shape, 8)) {}

  void hit(Slot slot, const Use&) override {
    if (is_main_[slot] != 0) links_.move_to_front(main_, slot);
  }

  void admit(Slot slot, const Use& use) override {
    if (!miss_.end(use.key)) take_from_ghosts(use);
    keys_.find_or_create(slot) = use.key;
    is_main_.find_or_create(slot) = is_remembered_ ? 1 : 0;
    links_.add(is_remembered_ ? main_ : in_, slot);
  }

  Slot victim(const Use& use) override {
    miss_.begin(use.key);
    take_from_ghosts(use);
    if (in_.size <= max_in_ && !main_.empty()) return links_.pop_back(main_);
    const Slot slot = links_.pop_back(in_);
    if (out_.size() == max_out_) out_.pop();
    out_.push(keys_[slot]);
    return slot;
  }

  void removed(Slot slot) override { links_.erase(is_main_[slot] != 0 ? main_ : in_, slot); }

 private:
  void take_from_ghosts(const Use& use) { is_remembered_ = out_.erase(use.key); }

  Slot max_in_;   // Kin
  Slot max_out_;  // Kout
  SlotLinks links_;
  SlotTable<BlockKey> keys_;
  SlotTable<std::uint8_t> is_main_;
  SlotList in_;    // A1in
  SlotList main_;  // Am
  Ghosts out_;     // A1out
  PendingMiss miss_;
  bool is_remembered_ = false;  // true if the missing block was remembered, so it enters the main queue
};

}  // namespace

const PolicyKind& two_queues() {
  static const PolicyKind kKind = policy_kind<TwoQueues>(
      "2q", "the oldest of those used once, or of those that returned the one used longest ago", "in=25%&out=50%");
  return kKind;
}

}  // namespace plait::simulation
