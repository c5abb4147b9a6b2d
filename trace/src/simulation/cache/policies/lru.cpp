/// Least recently used.  Source: R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger, "Evaluation techniques for
/// storage hierarchies", IBM Systems Journal 9(2), 1970.
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Lru final : public Policy {
 public:
  Lru(const CacheShape&, const Parameters&) {}

  void hit(Slot slot, const Use&) override { links_.move_to_front(list_, slot); }
  void admit(Slot slot, const Use&) override { links_.add(list_, slot); }
  Slot victim(const Use&) override { return links_.pop_back(list_); }
  void removed(Slot slot) override { links_.erase(list_, slot); }

 private:
  SlotLinks links_;
  SlotList list_;  // the most recently used block is at the front
};

}  // namespace

const PolicyKind& lru() {
  static const PolicyKind kKind = policy_kind<Lru>("lru", "the one used longest ago");
  return kKind;
}

}  // namespace plait::simulation
