// Stack distances: how many blocks were used since the previous use of a block, counting itself. For the uses
// A B B A the distances are 0 (first use), 0, 1, 2. An LRU cache of n blocks hits all uses whose distance is 1 to n.
#include "simulation/cache/stack_distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

namespace plait::simulation {
namespace {

/// Computes stack distances from a list whose first element is the most recently used block.
class Stack {
 public:
  std::uint32_t use(BlockKey key) {
    std::uint32_t distance = 1;
    auto position = blocks_.begin();
    for (; position != blocks_.end() && !(*position == key); ++position) ++distance;
    const bool known = position != blocks_.end();
    if (known) blocks_.erase(position);
    blocks_.push_front(key);
    return known ? distance : 0;
  }
  void remove(BlockKey key) { blocks_.remove(key); }
  std::size_t blocks() const { return blocks_.size(); }
  BlockKey at(std::size_t number) const { return *std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(number)); }

 private:
  std::list<BlockKey> blocks_;
};

TEST(StackDistances, EqualThoseOfAList) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937_64 random(seed);
    StackDistances distances;
    Stack stack;
    // Enough uses that times are renumbered several times, with few and with many blocks.
    const std::uint64_t blocks = seed < 2 ? 30 : 700;
    for (int use = 0; use < 30'000; ++use) {
      const BlockKey key{random() % blocks, static_cast<std::uint32_t>(random() % 2)};
      ASSERT_EQ(distances.use(key), stack.use(key)) << use;
      if (seed % 2 == 1 && random() % 20 == 0) {
        const BlockKey removed = stack.at(random() % stack.blocks());
        distances.remove(removed);
        stack.remove(removed);
      }
      ASSERT_EQ(distances.blocks(), stack.blocks());
    }
  }
}

TEST(StackDistances, GrowWithTheBlocks) {
  StackDistances distances;
  constexpr std::uint32_t kBlocks = 20'000;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t block = 0; block < kBlocks; ++block)
      ASSERT_EQ(distances.use({block, 0}), round == 0 ? 0U : kBlocks);
  EXPECT_EQ(distances.use({kBlocks - 1, 0}), 1U);
}

}  // namespace
}  // namespace plait::simulation
