// Rows of a file whose elements are scattered in memory: each element is copied once, in few requests.
#include "plan/access/scattered_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/access/planner.hpp"
#include "plan/conversion/partners.hpp"

namespace {

using plait::Layout;
using plait::Order;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::find_scattered_rows;
using plait::plan::Nest;
using plait::plan::ScatteredRows;
using plait::plan::Section;

AccessPlan one_rank_plan(const std::string& layout, std::int64_t element_bytes, std::int64_t memory) {
  AccessOptions options;
  options.memory_bytes = memory;
  const Layout whole = Layout::parse(layout);
  return plan_access(Section(whole.shape(), Order::kC, {}), whole, {element_bytes, 0, 1}, options);
}

/// The pairs of file offset and memory offset of all elements.
using OffsetPairs = std::set<std::pair<std::int64_t, std::int64_t>>;

/// Adds the pairs of all elements of a nest of loops.
void add_iterations(Nest nest, OffsetPairs& pairs) {
  plait::plan::for_each_iteration(nest, [&](std::int64_t file, std::int64_t array) { pairs.emplace(file, array); });
}

/// Returns the pairs of the elements that are copied by rows, and adds the number of file requests to `request_count`.
OffsetPairs list_pairs_by_rows(ScatteredRows rows, std::int64_t& request_count) {
  OffsetPairs pairs;
  rows.for_each_block([&](std::int64_t file, std::int64_t array, std::int64_t count) {
    EXPECT_LE(count * rows.row_bytes, rows.buffer_bytes());
    std::map<std::int64_t, std::int64_t> file_offsets;  // by the offset in the buffer
    rows.for_each_stretch(file, count, [&](std::int64_t offset, std::int64_t buffer_offset, std::int64_t bytes) {
      for (std::int64_t i = 0; i < bytes; ++i) file_offsets[buffer_offset + i] = offset + i;
      ++request_count;
    });
    Nest block{0, array, rows.row};
    if (count > 1) block.loops.push_back({count, rows.row_bytes, rows.rows.b_stride});
    plait::plan::for_each_iteration(block, [&](std::int64_t buffer_offset, std::int64_t position) {
      EXPECT_TRUE(pairs.emplace(file_offsets.at(buffer_offset), position).second);
    });
  });
  return pairs;
}

TEST(ScatteredRows, CombinesManyRowsOfATransposedArray) {
  const AccessPlan plan = one_rank_plan("2048x10000 (*, *)", 2, 0);
  const Nest nest{0, 0, {{2048, 20000, 2}, {4096, 2, 4096}}};  // the first 4096 columns
  const auto rows = find_scattered_rows(nest, plan);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->row_bytes, 8192);
  EXPECT_EQ(rows->rows_at_once, 128);
  EXPECT_EQ(rows->rows.count, 2048);
}

TEST(ScatteredRows, AreNotUsedForLongRunsOrShortRows) {
  const AccessPlan plan = one_rank_plan("64x64 (*, *)", 8, 0);
  EXPECT_FALSE(find_scattered_rows(Nest{0, 0, {{64, 1024, 512}, {64, 8, 8}}}, plan));   // runs of 512 bytes
  EXPECT_FALSE(find_scattered_rows(Nest{0, 0, {{64, 1024, 8}, {16, 64, 512}}}, plan));  // single elements in the file
  EXPECT_TRUE(find_scattered_rows(Nest{0, 0, {{64, 1024, 8}, {2, 8, 512}}}, plan));
}

TEST(ScatteredRows, CopiesEachElementOnce) {
  std::mt19937 random(1);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int tested = 0;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t element_bytes = pick(1, 3);
    const AccessPlan plan = one_rank_plan("16x16 (*, *)", element_bytes, pick(6, 40));
    Nest nest{pick(0, 9), pick(0, 9), {}};
    std::int64_t file_stride = element_bytes;
    std::vector<std::int64_t> counts;
    for (std::int64_t d = pick(1, 4); d > 0; --d) {
      counts.push_back(pick(2, 5));
      nest.loops.push_back({counts.back(), file_stride, 0});
      file_stride *= counts.back() + pick(0, 1);  // with a gap, or without one
    }
    std::int64_t array_stride = element_bytes;
    for (std::size_t d = counts.size(); d-- > 0; array_stride *= counts[d]) nest.loops[d].b_stride = array_stride;
    std::shuffle(nest.loops.begin(), nest.loops.end(), random);
    const auto rows = find_scattered_rows(nest, plan);
    if (!rows) continue;
    ++tested;
    OffsetPairs expected;
    add_iterations(nest, expected);
    std::int64_t request_count = 0;
    EXPECT_EQ(list_pairs_by_rows(*rows, request_count), expected);
    EXPECT_LE(request_count, static_cast<std::int64_t>(expected.size()));
  }
  EXPECT_GT(tested, 100);
}

}  // namespace
