// The cache of decompressed chunks: which chunks it keeps within its size, and which it drops.
#include "codec/chunk_cache.hpp"

#include <gtest/gtest.h>

namespace {

struct Chunk {
  std::int64_t number = 0;
  int content = 0;
};
using Cache = plait::codec::ChunkCache<Chunk>;

void insert(Cache& cache, std::int64_t number, int content = 0) {
  cache.insert(std::make_shared<const Chunk>(Chunk{number, content}));
}

TEST(ChunkCache, HoldsOneChunkUnlessItIsResized) {
  Cache cache(100);
  EXPECT_EQ(cache.find(0), nullptr);
  insert(cache, 0);
  EXPECT_NE(cache.find(0), nullptr);
  insert(cache, 1);
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_EQ(cache.find(1)->number, 1);
  cache.resize(99);  // smaller than a chunk, but the cache still holds one
  EXPECT_NE(cache.find(1), nullptr);
}

TEST(ChunkCache, DropsTheLeastRecentlyUsedChunk) {
  Cache cache(100);   // bytes of one chunk
  cache.resize(350);  // three chunks
  for (std::int64_t number = 0; number < 3; ++number) insert(cache, number);
  EXPECT_NE(cache.find(0), nullptr);  // chunk 1 is the least recently used chunk afterwards
  insert(cache, 3);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_NE(cache.find(0), nullptr);
  EXPECT_NE(cache.find(2), nullptr);
  EXPECT_NE(cache.find(3), nullptr);
  cache.resize(100);
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_NE(cache.find(3), nullptr);
}

TEST(ChunkCache, ReplacesAChunkOfTheSameNumber) {
  Cache cache(0);  // a chunk counts as at least 1 byte
  cache.resize(2);
  insert(cache, 7, 1);
  insert(cache, 8);
  insert(cache, 7, 2);
  EXPECT_EQ(cache.find(7)->content, 2);
  EXPECT_NE(cache.find(8), nullptr);
  cache.clear();
  EXPECT_EQ(cache.find(7), nullptr);
  EXPECT_EQ(cache.find(8), nullptr);
}

TEST(ChunkCache, ReturnsItsSize) {
  Cache cache(100);
  EXPECT_EQ(cache.max_bytes(), 0);
  cache.resize(350);
  EXPECT_EQ(cache.max_bytes(), 350);
}

TEST(ChunkCache, CountsTheBytesOfChunksOfDifferentSizes) {
  Cache cache(100);
  cache.resize(300);
  const auto insert_sized = [&](std::int64_t number, std::int64_t bytes) {
    cache.insert(std::make_shared<const Chunk>(Chunk{number, 0}), bytes);
  };
  for (std::int64_t number = 0; number < 5; ++number) insert_sized(number, 60);
  EXPECT_NE(cache.find(0), nullptr);
  insert_sized(5, 120);  // replaces chunks 1 and 2, because find() has just used chunk 0
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_NE(cache.find(3), nullptr);
  insert_sized(5, 10);  // replaces the chunk of the same number; 110 bytes become free
  insert_sized(6, 110);
  EXPECT_NE(cache.find(0), nullptr);
  insert_sized(7, 1000);  // more than the whole cache
  EXPECT_NE(cache.find(7), nullptr);
  EXPECT_EQ(cache.find(6), nullptr);
  insert(cache, 8);
  EXPECT_EQ(cache.find(7), nullptr);
  EXPECT_NE(cache.find(8), nullptr);
}

}  // namespace
