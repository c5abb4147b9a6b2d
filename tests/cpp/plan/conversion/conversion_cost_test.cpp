// The cost of a conversion depends on pieces and partners, never on the number of elements.  The cost is the time and
// the allocated bytes; every allocation of this program is counted.
#include <gtest/gtest.h>

#include <ctime>

#include "allocations.hpp"
#include "oracle.hpp"

namespace {

using plait::Layout;
using plait::Message;

/// Returns by how many bytes the allocated memory grows at most during `call`; 0 if allocations are not counted.
template <typename Call>
std::int64_t measure_peak(Call&& call) {
  const std::int64_t before = allocations::live_bytes();
  allocations::restart_peak();
  call();
  return allocations::peak_bytes() - before;
}

TEST(ConversionCost, AMillionRanksAndATrillionElements) {
  const Layout source = Layout::parse("1000000x1000000 (block, *) onto (1000000)");
  const Layout target = Layout::parse("1000000x1000000 (cyclic, cyclic) onto (1000, 1000)");
  const plait::Conversion conversion = plait::compose(source, target);
  const std::clock_t start = std::clock();
  const std::int64_t peak = measure_peak([&] {
    const std::vector<Message> sent = conversion.sends(123'456);
    const std::vector<Message> received = conversion.receives(123'456);
    ASSERT_EQ(sent.size(), 1000U);
    ASSERT_EQ(received.size(), 1000U);
    for (std::size_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(sent[i], (Message{456'000 + static_cast<std::int64_t>(i), 1000, 1000}));
      EXPECT_EQ(received[i], (Message{123 + 1000 * static_cast<std::int64_t>(i), 1000, 1000}));
    }
    EXPECT_EQ(conversion.block(), 1);
  });
  EXPECT_LT(peak, 1 << 20);
  // Checks that the allocations of the library are counted.
  if (!oracle::kSanitized) {
    EXPECT_GE(peak, 2000 * static_cast<std::int64_t>(sizeof(Message)));
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 1 : 0.05);
}

TEST(ConversionCost, IsTheSameForAnyNumberOfElements) {
  for (const auto& [from, to] : {std::pair{"(cyclic(6)) onto (5)", "(cyclic(4)) onto (7)"},
                                 std::pair{"(cyclic) onto (64)", "(cyclic(3)) onto (10)"}}) {
    std::int64_t smallest_array_peak = 0;
    for (std::int64_t size = 10'000; size <= 1'000'000'000'000'000; size *= 10) {
      const plait::Conversion conversion(Layout::parse(from, {size}), Layout::parse(to, {size}));
      const std::int64_t peak = measure_peak([&] {
        for (const std::int64_t rank : {0, 1, 3}) {
          std::int64_t elements = 0;
          for (const Message& message : conversion.sends(rank)) elements += message.elements;
          EXPECT_EQ(elements, conversion.source().local_elements(rank));
          (void)conversion.receives(rank);
        }
      });
      if (smallest_array_peak == 0) smallest_array_peak = peak;
      // The last period of an array may be incomplete, which adds a few pieces.
      EXPECT_LE(peak, smallest_array_peak + smallest_array_peak / 2 + 512) << size;
      EXPECT_LT(peak, 64 << 10);
    }
  }
}

TEST(ConversionCost, AMillionCoordinatesOnBothSides) {
  const std::clock_t start = std::clock();
  // With strides of about 10^12 on both sides, a rank has common elements with only a few of the million others.
  const plait::Conversion conversion(Layout::parse("1000000000000000 (cyclic(1000000)) onto (1000000)"),
                                     Layout::parse("1000000000000000 (cyclic(1000003)) onto (999983)"));
  const std::int64_t peak = measure_peak([&] {
    for (const std::int64_t rank : {0, 77, 999'000}) {
      std::int64_t elements = 0;
      for (const Message& message : conversion.sends(rank)) elements += message.elements;
      EXPECT_EQ(elements, conversion.source().local_elements(rank));
    }
  });
  EXPECT_LT(peak, 4 << 20);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, oracle::kSanitized ? 5 : 0.5);
}

}  // namespace
