/// First in, first out.  Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM
/// Systems Journal 5(2), 1966.
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

class Fifo final : public Policy {
 public:
  Fifo(const CacheShape&, const Parameters&) {}

  void hit(Slot, const Use&) override {}
  void admit(Slot slot, const Use&) override { links_.add(list_, slot); }
  Slot victim(const Use&) override { return links_.pop_back(list_); }
  void removed(Slot slot) override { links_.erase(list_, slot); }

 private:
  SlotLinks links_;
  SlotList list_;  // the newest block is at the front
};

}  // namespace

const PolicyKind& fifo() {
  static const PolicyKind kKind = policy_kind<Fifo>("fifo", "the one that came first");
  return kKind;
}

}  // namespace plait::simulation
