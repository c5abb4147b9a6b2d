/// Least frequently used among the resident blocks; the count of a block is discarded with it. Source of the
/// structure with O(1) a use: K. Shah, A. Mitra and D. Matani, "An O(1) algorithm for implementing the LFU cache
/// eviction scheme", 2010. Among blocks used equally often it replaces the least recently used one.
///
/// Blocks with the same count form a group, and the groups form a list in the order of their counts. Example: groups
/// 1: {A, B} and 3: {C}. A use of A inserts a group 2 between them and moves A into it; a group that becomes empty is
/// removed.
#include <vector>

#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Lfu final : public Policy {
 public:
  Lfu(const CacheShape&, const Parameters&) {}

  void hit(Slot slot, const Use&) override {
    const Index old = group_[slot];
    const std::uint64_t uses = groups_[old].uses + 1;
    Index next = groups_[old].more;
    if (next == kNone || groups_[next].uses != uses) next = insert_after(old, uses);
    leave(slot);
    join(slot, next);
  }

  void admit(Slot slot, const Use&) override {
    if (fewest_ == kNone || groups_[fewest_].uses != 1) insert_after(kNone, 1);
    join(slot, fewest_);
  }

  Slot victim(const Use&) override {
    const Slot slot = groups_[fewest_].slots.back;
    leave(slot);
    return slot;
  }

  void removed(Slot slot) override { leave(slot); }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = kNoSlot;

  /// Blocks used equally often, the most recently used at the front.
  struct Group {
    std::uint64_t uses = 0;
    SlotList slots;
    Index fewer = kNone;
    Index more = kNone;
  };

  /// Inserts a group after the group `fewer` (kNone: before all groups).
  Index insert_after(Index fewer, std::uint64_t uses) {
    auto index = static_cast<Index>(groups_.size());
    if (free_.empty()) {
      groups_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    const Index more = fewer == kNone ? fewest_ : groups_[fewer].more;
    groups_[index] = {uses, {}, fewer, more};
    (fewer == kNone ? fewest_ : groups_[fewer].more) = index;
    if (more != kNone) groups_[more].fewer = index;
    return index;
  }

  void join(Slot slot, Index group) {
    links_.add(groups_[group].slots, slot);
    group_.find_or_create(slot) = group;
  }

  void leave(Slot slot) {
    const Index index = group_[slot];
    Group& group = groups_[index];
    links_.erase(group.slots, slot);
    if (!group.slots.empty()) return;
    (group.fewer == kNone ? fewest_ : groups_[group.fewer].more) = group.more;
    if (group.more != kNone) groups_[group.more].fewer = group.fewer;
    free_.push_back(index);
  }

  SlotLinks links_;
  SlotTable<Index> group_;
  std::vector<Group> groups_;
  std::vector<Index> free_;
  Index fewest_ = kNone;
};

}  // namespace

const PolicyKind& lfu() {
  static const PolicyKind kKind =
      policy_kind<Lfu>("lfu", "the one used least often since it came; of several the one used longest ago");
  return kKind;
}

}  // namespace plait::simulation
