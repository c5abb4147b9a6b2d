/// Adaptive replacement. Source: N. Megiddo and D. S. Modha, "ARC: a self-tuning, low overhead replacement cache",
/// FAST 2003, figure 4, with the names of its lists; p is a real number, as in the paper.
///
/// T1 has the blocks used once and T2 the blocks used again; B1 and B2 remember blocks that left them. A miss on a
/// block in B1 shows that T1 was too small and raises p, the target size of T1; a miss on one in B2 lowers it.
///
/// Example: |B1| = 2, |B2| = 6, p = 3. A miss on a block in B1 makes p = 3 + max(1, 6/2) = 6, but at most the
/// capacity.
#include <algorithm>

#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/ghosts.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Arc final : public Policy {
 public:
  Arc(const CacheShape& shape, const Parameters&) : capacity_(shape.slots) {}

  // Case I of the paper.
  void hit(Slot slot, const Use&) override {
    links_.erase(in_t2_[slot] != 0 ? t2_ : t1_, slot);
    in_t2_[slot] = 1;
    links_.push_front(t2_, slot);
  }

  void admit(Slot slot, const Use& use) override {
    if (!miss_.end(use.key)) adapt(use);
    keys_.find_or_create(slot) = use.key;
    in_t2_.find_or_create(slot) = ghost_list_ == GhostList::kNowhere ? 0 : 1;
    links_.add(ghost_list_ == GhostList::kNowhere ? t1_ : t2_, slot);
  }

  Slot victim(const Use& use) override {
    miss_.begin(use.key);
    adapt(use);
    if (discards_victim_) return links_.pop_back(t1_);  // end of case IV A
    // REPLACE of the paper
    const double t1 = t1_.size;
    const bool from_t1 = !t1_.empty() && (t1 > p_ || (ghost_list_ == GhostList::kB2 && t1 == p_) || t2_.empty());
    const Slot slot = links_.pop_back(from_t1 ? t1_ : t2_);
    (from_t1 ? b1_ : b2_).push(keys_[slot]);
    return slot;
  }

  void removed(Slot slot) override { links_.erase(in_t2_[slot] != 0 ? t2_ : t1_, slot); }

 private:
  enum class GhostList : std::uint8_t { kNowhere, kB1, kB2 };

  /// Looks up a missing block in B1 and B2, adapts p and makes space in B1 or B2: the part of a miss before REPLACE.
  void adapt(const Use& use) {
    const double b1 = b1_.size();
    const double b2 = b2_.size();
    discards_victim_ = false;
    if (b1_.erase(use.key)) {  // case II
      ghost_list_ = GhostList::kB1;
      p_ = std::min(p_ + std::max(1.0, b2 / b1), static_cast<double>(capacity_));
    } else if (b2_.erase(use.key)) {  // case III
      ghost_list_ = GhostList::kB2;
      p_ = std::max(p_ - std::max(1.0, b1 / b2), 0.0);
    } else {  // case IV
      ghost_list_ = GhostList::kNowhere;
      if (t1_.size + b1_.size() >= capacity_) {
        if (b1_.size() > 0)
          b1_.pop();
        else
          discards_victim_ = true;
      } else if (t1_.size + t2_.size + b1_.size() + b2_.size() >= 2 * std::uint64_t{capacity_}) {
        b2_.pop();
      }
    }
  }

  Slot capacity_;
  double p_ = 0;  // target number of blocks in T1
  SlotLinks links_;
  SlotTable<BlockKey> keys_;
  SlotTable<std::uint8_t> in_t2_;
  SlotList t1_;  // blocks used once since they arrived
  SlotList t2_;  // blocks used more than once
  Ghosts b1_;    // blocks that left T1
  Ghosts b2_;    // blocks that left T2
  PendingMiss miss_;
  GhostList ghost_list_ = GhostList::kNowhere;
  bool discards_victim_ = false;  // true if the next victim is the end of T1 and is not remembered in B1
};

}  // namespace

const PolicyKind& arc() {
  static const PolicyKind kKind = policy_kind<Arc>(
      "arc", "the one used longest ago, of those used once or of the others, by which were missed more of late");
  return kKind;
}

}  // namespace plait::simulation
