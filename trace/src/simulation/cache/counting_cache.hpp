/// A cache that stores no data and only distinguishes hits from misses. It is compiled for each policy, so that the use
/// of a block needs no virtual call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/cache/policy_kind.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

template <typename OnePolicy>
class CountingCache final : public Counter {
 public:
  CountingCache(const CacheShape& shape, const Parameters& parameters)
      : policy_(shape, parameters), table_(std::min<std::size_t>(shape.slots, kInitialBlocks)), slots_(shape.slots) {}

  void use(std::span<const Use> uses, std::span<std::uint8_t> hits) override {
    for (std::size_t k = 0; k < uses.size(); ++k) {
      if (k + kPrefetchDistance < uses.size()) table_.prefetch(uses[k + kPrefetchDistance].key);
      hits[k] = use(uses[k]) ? 1 : 0;
    }
  }

 private:
  static constexpr std::size_t kInitialBlocks = 1 << 16;  // number of blocks up to which the table need not grow
  static constexpr std::size_t kPrefetchDistance =
      16;  // number of uses processed while a cache line arrives from memory

  bool use(const Use& use) {
    Slot slot = table_.find(use.key);
    const bool hit = slot != kNoSlot;
    if (hit) {
      policy_.hit(slot, use);
    } else {
      slot = allocate_slot(use);
      keys_.find_or_create(slot) = use.key;
      table_.insert(use.key, slot);
      policy_.admit(slot, use);
    }
    for (Slot tossed_slot = policy_.tossed(); tossed_slot != kNoSlot; tossed_slot = policy_.tossed()) {
      table_.erase(keys_[tossed_slot]);
      free_.push_back(tossed_slot);
    }
    return hit;
  }

  /// Returns a free slot, after removing a block if necessary.
  Slot allocate_slot(const Use& use) {
    const bool has_space = used_slots_ < slots_ || !free_.empty();
    if (!has_space || policy_.at_limit(use)) {
      const Slot slot = policy_.victim(use);
      table_.erase(keys_[slot]);
      return slot;
    }
    if (free_.empty()) return used_slots_++;
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }

  OnePolicy policy_;
  BlockTable table_;
  Slot slots_;
  SlotTable<BlockKey> keys_;
  std::vector<Slot> free_;  // slots whose blocks have left
  Slot used_slots_ = 0;     // number of slots that were ever used: 0 to used_slots_ - 1
};

/// Makes the registry entry of a policy.
template <typename OnePolicy>
constexpr PolicyKind policy_kind(std::string_view name, std::string_view about, std::string_view parameters = {},
                                 Foresight foresight = Foresight::kNone) {
  return {
      .name = name,
      .about = about,
      .parameters = parameters,
      .foresight = foresight,
      .make = [](const CacheShape& shape, const Parameters& values) -> std::unique_ptr<Policy> {
        return std::make_unique<OnePolicy>(shape, values);
      },
      .count = [](const CacheShape& shape, const Parameters& values) -> std::unique_ptr<Counter> {
        return std::make_unique<CountingCache<OnePolicy>>(shape, values);
      },
  };
}

}  // namespace plait::simulation
