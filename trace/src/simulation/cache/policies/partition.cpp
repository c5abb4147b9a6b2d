/// A limit on the number of blocks of each process, within which another policy decides. Source: E. L. Miller,
/// "Input/Output Behavior of Supercomputing Applications" (1992), section 6.2, where such a limit did not help.
///
/// A block belongs to the process that brought it in; other processes hit it too. A process at its limit gives up one
/// of its own blocks. If the limits add up to more than the cache and the cache is full, the process with the most
/// blocks gives up one; among several, the one with the smallest number.
/// cost  O(processes) to determine that process.
///
/// Each process has an inner policy with slots of its own, numbered from 0. `owners_` maps a slot of the cache to the
/// process and its inner slot, and Part::slots maps back.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/registry.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

NamedPolicy inner_policy(const Parameters& parameters) {
  const std::string_view name = parameters.text("of");
  NamedPolicy policy(name);
  if (policy.kind().name == "partition" || policy.kind().foresight != Foresight::kNone)
    base::throw_argument_error(
        "of=", name, " of the replacement policy partition is a policy that cannot decide within a limit: it ",
        "divides the cache itself or looks at the rest of the trace; give another, such as of=lru");
  return policy;
}

class Partition final : public Policy {
 public:
  Partition(const CacheShape& shape, const Parameters& parameters)
      : inner_(inner_policy(parameters)), shape_{parameters.blocks("limit", shape), shape.block, shape.processes} {
    inner_.make(shape_);  // throws if its parameters are wrong, before the trace is read
  }

  void hit(Slot slot, const Use& use) override {
    Part& part = parts_[owners_[slot].owner];
    part.policy->hit(owners_[slot].inner, use);
    collect_tossed(part);
  }

  void admit(Slot slot, const Use& use) override {
    Part& part = find_or_create_part(use.process);
    Slot inner = static_cast<Slot>(part.slots.size());
    if (part.free.empty()) {
      part.slots.push_back(slot);
    } else {
      inner = part.free.back();
      part.free.pop_back();
      part.slots[inner] = slot;
    }
    owners_.find_or_create(slot) = {use.process, inner};
    part.policy->admit(inner, use);
    collect_tossed(part);
  }

  Slot victim(const Use& use) override {
    Part& part = at_limit(use) ? parts_[use.process] : *std::ranges::max_element(parts_, {}, &Part::size);
    return free_inner_slot(part, part.policy->victim(use));
  }

  void removed(Slot slot) override {
    Part& part = parts_[owners_[slot].owner];
    part.policy->removed(owners_[slot].inner);
    free_inner_slot(part, owners_[slot].inner);
  }

  bool at_limit(const Use& use) const override {
    return use.process < parts_.size() && parts_[use.process].size() == shape_.slots;
  }

  Slot tossed() override {
    if (tossed_.empty()) return kNoSlot;
    const Slot slot = tossed_.back();
    tossed_.pop_back();
    return slot;
  }

 private:
  /// The blocks of one process. Its policy sees them in slots of its own numbering.
  struct Part {
    std::unique_ptr<Policy> policy;  // nullptr: the process has brought in no block
    std::vector<Slot> slots;         // slots of the cache, by slot of the part
    std::vector<Slot> free;          // free slots of the part

    std::size_t size() const { return slots.size() - free.size(); }
  };
  struct OwnedSlot {
    std::uint32_t owner = 0;
    Slot inner = 0;
  };

  Part& find_or_create_part(std::uint32_t process) {
    if (process >= parts_.size()) parts_.resize(process + std::size_t{1});
    if (parts_[process].policy == nullptr) parts_[process].policy = inner_.make(shape_);
    return parts_[process];
  }

  static Slot free_inner_slot(Part& part, Slot inner) {
    part.free.push_back(inner);
    return part.slots[inner];
  }

  void collect_tossed(Part& part) {
    for (Slot slot = part.policy->tossed(); slot != kNoSlot; slot = part.policy->tossed())
      tossed_.push_back(free_inner_slot(part, slot));
  }

  NamedPolicy inner_;
  CacheShape shape_;  // shape of one part
  std::vector<Part> parts_;
  SlotTable<OwnedSlot> owners_;
  std::vector<Slot> tossed_;
};

}  // namespace

const PolicyKind& partition() {
  static const PolicyKind kKind = policy_kind<Partition>(
      "partition", "one of the process's own where it has its limit, chosen by another policy", "limit=25%&of=lru");
  return kKind;
}

}  // namespace plait::simulation
