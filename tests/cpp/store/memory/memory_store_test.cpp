// Stores of bytes in memory, which tests can make fail.
#include "store/memory/memory_store.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

#include "store_case.hpp"

namespace {

using namespace store_case;
using plait::store::memory::MemoryStore;

TEST(MemoryStore, ReadsAndWritesSegments) {
  MemoryStore store(8);
  EXPECT_EQ(store.size(), 8);
  check_segments(store);
  store.sync();
}

TEST(MemoryStore, RejectsRangesOutside) {
  MemoryStore store(8);
  Bytes word(9);
  for (const auto& [offset, bytes] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 9}, {8, 1}, {-1, 1}, {9, 0}, {INT64_MAX, 1}, {4, INT64_MAX}})
    EXPECT_SAYS(failure([&] { store.read({{offset, word.data(), bytes}}); }).first, "the store has 8 bytes");
  EXPECT_NO_THROW(store.read({{8, word.data(), 0}}));
}

TEST(MemoryStore, FailsAtTheRequestedSegment) {
  MemoryStore store(8);
  Bytes word(1);
  const auto read = [&] { store.read({{0, word.data(), 1}, {1, word.data(), 1}}); };
  store.fail_at(1);
  EXPECT_EQ(failure(read).second, EIO);
  EXPECT_NO_THROW(read());
  EXPECT_EQ(store.segments(), 4) << "two calls of two segments, including the one that failed";
}

}  // namespace
