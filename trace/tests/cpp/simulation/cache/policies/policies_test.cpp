/// The contract of all replacement policies, for any cache: they evict only blocks that are in the cache, also if
/// blocks are removed for other reasons, and slots are reused in any order.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "simulation/cache/foresight.hpp"
#include "simulation/cache/registry.hpp"

namespace plait::simulation {
namespace {

/// A cache of `slots` blocks that checks each decision of its policy.
class CheckingCache {
 public:
  CheckingCache(std::string_view policy, Slot slots, std::uint32_t processes)
      : policy_(NamedPolicy(policy).make({slots, 4096, processes})) {
    for (Slot slot = slots; slot > 0; --slot) free_.push_back(slot - 1);
  }

  /// Uses a block; returns true if it was in the cache.
  bool use(const Use& use) {
    const auto found = slots_.find(use.key.block);
    const bool hit = found != slots_.end();
    if (hit) {
      policy_->hit(found->second, use);
    } else {
      if (free_.empty() || policy_->at_limit(use)) {
        const Slot slot = policy_->victim(use);
        free_slot(slot);
      }
      const Slot slot = free_.back();
      free_.pop_back();
      slots_[use.key.block] = slot;
      blocks_[slot] = use.key.block;
      policy_->admit(slot, use);
    }
    for (Slot slot = policy_->tossed(); slot != kNoSlot; slot = policy_->tossed()) free_slot(slot);
    return hit;
  }

  /// Removes a block, as if its file were removed.
  void remove(std::uint64_t number) {
    if (blocks_.empty()) return;
    const Slot slot = std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(number % blocks_.size()))->first;
    policy_->removed(slot);
    free_slot(slot);
    if (number % 2 == 0) std::swap(free_.front(), free_.back());  // so that slots are reused in various orders
  }

  std::size_t resident() const { return blocks_.size(); }

 private:
  void free_slot(Slot slot) {
    ASSERT_TRUE(blocks_.contains(slot)) << "slot " << slot << " holds no block";
    slots_.erase(blocks_[slot]);
    blocks_.erase(slot);
    free_.push_back(slot);
  }

  std::unique_ptr<Policy> policy_;
  std::map<std::uint64_t, Slot> slots_;
  std::map<Slot, std::uint64_t> blocks_;
  std::vector<Slot> free_;
};

class EveryPolicy : public testing::TestWithParam<const char*> {};

TEST_P(EveryPolicy, EvictsOnlyResidentBlocks) {
  constexpr std::uint32_t kProcesses = 3;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(seed);
    const Slot slots = 1 + static_cast<Slot>(random() % 20);
    std::vector<Use> uses(4000);
    for (Use& use : uses) use = {{random() % 40, 0}, static_cast<std::uint32_t>(random() % kProcesses), kNever, 0};
    add_foresight(uses, NamedPolicy(GetParam()).kind().foresight);
    CheckingCache cache(GetParam(), slots, kProcesses);
    for (const Use& use : uses) {
      cache.use(use);
      ASSERT_LE(cache.resident(), slots);
      if (seed % 2 == 1 && random() % 10 == 0) cache.remove(random());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryPolicy, EqualsACountingCache) {
  std::mt19937_64 random(3);
  std::vector<Use> uses(5000);
  for (Use& use : uses) use = {{random() % 60, 0}, static_cast<std::uint32_t>(random() % 3), kNever, 0};
  add_foresight(uses, NamedPolicy(GetParam()).kind().foresight);
  CheckingCache cache(GetParam(), 17, 3);
  std::vector<std::uint8_t> hits(uses.size());
  NamedPolicy(GetParam()).count({17, 4096, 3})->use(uses, hits);
  for (std::size_t k = 0; k < uses.size(); ++k) ASSERT_EQ(cache.use(uses[k]), hits[k] != 0) << k;
}

TEST(Arc, EvictsBlocksForOthersThatAreNotInserted) {
  // As in a partitioned cache in which one part loses a block to another part.
  const auto arc = NamedPolicy("arc").make({3, 4096, 1});
  const Use other{{99, 0}, 0, kNever, 0};
  for (Slot slot = 0; slot < 3; ++slot) arc->admit(slot, {{slot, 0}, 0, kNever, 0});
  EXPECT_EQ(arc->victim(other), 0U);
  for (Slot slot = 1; slot < 3; ++slot) arc->hit(slot, {{slot, 0}, 0, kNever, 0});
  EXPECT_EQ(arc->victim(other), 1U);
  EXPECT_EQ(arc->victim(other), 2U);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy,
                         testing::Values("lru", "fifo", "clock", "lfu", "2q", "arc", "sieve", "s3fifo",
                                         "s3fifo?fill=main", "belady", "toss", "toss-parallel", "partition",
                                         "partition?limit=60%&of=arc", "partition?limit=60%&of=toss"));

}  // namespace
}  // namespace plait::simulation
