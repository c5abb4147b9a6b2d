// The distribution of a shared file's bytes over its components, compared with the definition byte by byte.
#include "distant/shared/stripe_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using plait::distant::shared::Batch;
using plait::distant::shared::StripeMap;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(SharedStripeMap, EachByteHasOnePosition) {
  for (const int components : {1, 2, 3, 5})
    for (const std::int64_t unit : {1, 2, 3, 7}) {
      const StripeMap stripes(unit, components);
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(components), 0);
      for (std::int64_t offset = 0; offset < 120; ++offset) {
        const auto component = static_cast<int>(offset / unit % components);
        std::int64_t& length = lengths[static_cast<std::size_t>(component)];
        ASSERT_EQ(stripes.component_at(offset), component);
        // The bytes of a component follow each other without gaps, in the order of their offsets.
        ASSERT_EQ(stripes.position_at(offset), length);
        ASSERT_EQ(stripes.offset_at(component, length), offset);
        ++length;
        std::int64_t end = 0;
        for (int i = 0; i < components; ++i) {
          const std::int64_t component_length = lengths[static_cast<std::size_t>(i)];
          ASSERT_EQ(stripes.length(i, offset + 1), component_length);
          end = std::max(end, stripes.end(i, component_length));
        }
        ASSERT_EQ(end, offset + 1);
      }
      for (int i = 0; i < components; ++i) {
        EXPECT_EQ(stripes.length(i, 0), 0);
        EXPECT_EQ(stripes.end(i, 0), 0);
      }
    }
}

/// The batches cover each byte once, combine whole stripes, and none has more than `max_bytes`.
TEST(SharedStripeMap, BatchesCoverARequest) {
  for (const int components : {1, 2, 3, 5})
    for (const std::int64_t unit : {1, 3, 4, 10, 64})
      for (const std::int64_t max_bytes : {4, 10, 1000})
        for (std::int64_t offset = 0; offset < 45; offset += 1 + offset / 7)
          for (std::int64_t bytes = 0; bytes < 160; bytes += 1 + bytes / 5) {
            const StripeMap stripes(unit, components);
            std::vector<int> times_seen(static_cast<std::size_t>(bytes), 0);
            const std::vector<Batch> batches = stripes.batches(offset, bytes, max_bytes);
            for (const Batch& batch : batches) {
              ASSERT_GT(batch.bytes, 0);
              ASSERT_LE(batch.bytes, max_bytes);
              std::int64_t next_position = batch.position;
              stripes.each_part(batch, offset, [&](std::int64_t position, std::int64_t at, std::int64_t part) {
                ASSERT_EQ(position, next_position);
                next_position += part;
                for (std::int64_t i = 0; i < part; ++i) {
                  ASSERT_GE(at + i, 0);
                  ASSERT_LT(at + i, bytes);
                  ++times_seen[static_cast<std::size_t>(at + i)];
                  ASSERT_EQ(stripes.component_at(offset + at + i), batch.component);
                  ASSERT_EQ(stripes.position_at(offset + at + i), position + i);
                }
              });
              ASSERT_EQ(next_position, batch.position + batch.bytes);
            }
            ASSERT_TRUE(std::ranges::all_of(times_seen, [](int times) { return times == 1; }))
                << components << " components, unit " << unit << ", at most " << max_bytes << ", " << bytes
                << " bytes at " << offset;
          }
}

TEST(SharedStripeMap, TheFirstBatchesGoToAllComponents) {
  const StripeMap stripes(1 << 20, 4);
  const std::vector<Batch> batches = stripes.batches(5, 16 << 20, 1 << 18);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(batches[i].component, static_cast<int>(i));
  // Small stripes are combined.
  EXPECT_EQ(StripeMap(1 << 10, 4).batches(0, 1 << 20, 1 << 18).size(), 4U);
  EXPECT_EQ(StripeMap(1000, 1).batches(0, 1 << 20, 1 << 18).size(), 4U);
}

TEST(SharedStripeMap, LargestOffsetsAreMapped) {
  for (const int components : {1, 2, 3, 1000})
    for (const std::int64_t unit : {std::int64_t{1}, std::int64_t{4096}, std::int64_t{12345}, std::int64_t{1} << 40}) {
      const StripeMap stripes(unit, components);
      for (const std::int64_t offset : {kMax - 1, kMax - 2, kMax - unit, kMax / 2, kMax / 3}) {
        const int component = stripes.component_at(offset);
        EXPECT_EQ(stripes.offset_at(component, stripes.position_at(offset)), offset);
        EXPECT_EQ(stripes.length(component, offset + 1), stripes.position_at(offset) + 1);
        EXPECT_EQ(stripes.end(component, stripes.position_at(offset) + 1), offset + 1);
      }
      std::int64_t batch_bytes = 0;
      for (const Batch& batch : stripes.batches(kMax - 100000, 100000, 262144)) batch_bytes += batch.bytes;
      EXPECT_EQ(batch_bytes, 100000);
      // Ends beyond the largest file size are reported as kMax.
      EXPECT_EQ(stripes.end(components - 1, kMax), kMax);
    }
}

}  // namespace
