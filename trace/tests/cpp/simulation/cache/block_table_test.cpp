// The hash table from blocks to slots of a cache, compared with std::map.
#include "simulation/cache/block_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace plait::simulation {
namespace {

TEST(BlockTable, EqualsAMap) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937_64 random(seed);
    BlockTable table(seed % 2 == 0 ? 0 : 300);
    std::map<std::pair<std::uint64_t, std::uint32_t>, Slot> model;
    const std::uint64_t blocks = 20 + 40 * seed;
    for (Slot slot = 0; slot < 20'000; ++slot) {
      // Neighboring keys, and keys that differ only in their upper bits.
      const std::uint64_t block = random() % blocks << (seed % 3 == 2 ? 50 : 0);
      const BlockKey key{block, static_cast<std::uint32_t>(random() % 3)};
      const auto found = model.find({key.block, key.file});
      ASSERT_EQ(table.find(key), found == model.end() ? kNoSlot : found->second);
      if (found == model.end()) {
        table.insert(key, slot);
        model[{key.block, key.file}] = slot;
      } else if (random() % 3 == 0) {
        table.move(key, slot);
        found->second = slot;
      } else {
        table.erase(key);
        model.erase(found);
      }
      ASSERT_EQ(table.size(), model.size());
    }
    for (const auto& [key, slot] : model) EXPECT_EQ(table.find({key.first, key.second}), slot);
  }
}

TEST(BlockTable, DistinguishesFiles) {
  BlockTable table;
  table.insert({7, 1}, 10);
  table.insert({7, 2}, 11);
  table.insert({0, 0}, 12);
  EXPECT_EQ(table.find({7, 1}), 10U);
  EXPECT_EQ(table.find({7, 2}), 11U);
  EXPECT_EQ(table.find({0, 0}), 12U);
  EXPECT_EQ(table.find({7, 0}), kNoSlot);
  table.erase({0, 0});
  EXPECT_EQ(table.find({0, 0}), kNoSlot);
}

}  // namespace
}  // namespace plait::simulation
