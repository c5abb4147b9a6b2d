// A part store concatenates rows of another store; compared with a copy made byte by byte.
#include "container/part_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"

namespace {

using plait::Error;
using plait::container::PartStore;
using plait::container::Rows;
using plait::store::memory::MemoryStore;

/// Returns a store of bytes that depend on their offsets.
std::shared_ptr<MemoryStore> make_store(std::int64_t bytes) {
  auto store = std::make_shared<MemoryStore>(bytes);
  for (std::size_t i = 0; i < store->bytes().size(); ++i) store->bytes()[i] = static_cast<std::byte>(i * 7 % 251);
  return store;
}

/// Returns the bytes of all rows, one row after the other.
std::vector<std::byte> read_rows(MemoryStore& store, const Rows& rows) {
  std::vector<std::byte> all;
  const std::vector<std::byte>& bytes = store.bytes();
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t k = 0; k < rows.row_bytes; ++k)
      all.push_back(bytes[static_cast<std::size_t>(rows.begin + i * rows.stride + k)]);
  return all;
}

// Short and distant rows, adjacent rows, and a single row.
const Rows kCases[] = {{5, 3, 7, 400},         {0, 1, 1, 50},       {9, 40, 40, 12},  {3, 100, 40'000, 9},
                       {0, 20'000, 20'004, 8}, {17, 1000, 1000, 1}, {2, 8, 3000, 900}};

TEST(PartStore, ReadsAndWritesTheBytesOfItsRows) {
  std::mt19937_64 random(3);
  for (const Rows& rows : kCases) {
    const auto whole = make_store(rows.begin + rows.count * rows.stride + 100);
    PartStore part(whole, plait::base::decode<Rows>(plait::base::encode(rows), plait::base::kAnotherRank), "part");
    std::vector<std::byte> expected = read_rows(*whole, rows);
    const auto size = static_cast<std::int64_t>(expected.size());
    ASSERT_EQ(part.size(), size);
    for (int i = 0; i < 60; ++i) {
      const auto offset = static_cast<std::int64_t>(random() % expected.size());
      const auto bytes = static_cast<std::int64_t>(random() % static_cast<std::size_t>(size - offset + 1));
      std::vector<std::byte> actual(static_cast<std::size_t>(bytes));
      part.read({{offset, actual.data(), bytes}});
      ASSERT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin() + offset)) << rows.stride;
      for (std::byte& byte : actual) byte = static_cast<std::byte>(random());
      const std::vector<std::byte> before = whole->bytes();
      part.write({{offset, actual.data(), bytes}});
      std::copy(actual.begin(), actual.end(), expected.begin() + offset);
      ASSERT_EQ(read_rows(*whole, rows), expected) << rows.stride;
      std::int64_t changed = 0;  // bytes outside of the rows must not change
      for (std::size_t k = 0; k < before.size(); ++k) changed += before[k] != whole->bytes()[k] ? 1 : 0;
      ASSERT_LE(changed, bytes);
    }
  }
}

TEST(PartStore, ReadsShortRowsTogether) {
  const auto whole = make_store(2'000'000);
  PartStore part(whole, {0, 4, 16, 100'000}, "part");
  std::vector<std::byte> actual(400'000);
  part.read({{0, actual.data(), 400'000}});
  EXPECT_EQ(whole->segments(), 2);
}

TEST(PartStore, RejectsRangesOutside) {
  const auto whole = make_store(100);
  PartStore part(whole, {10, 5, 8, 4}, "part");
  std::byte single_byte{};
  for (const auto& [offset, bytes] :
       {std::pair<std::int64_t, std::int64_t>{20, 1}, {-1, 1}, {0, 21}, {19, INT64_MAX}}) {
    EXPECT_THROW(part.read({{offset, &single_byte, bytes}}), Error);
    EXPECT_THROW(part.write({{offset, &single_byte, bytes}}), Error);
  }
  EXPECT_THROW((void)plait::base::decode<Rows>(std::string("12"), plait::base::kAnotherRank), Error);
}

}  // namespace
