// zip() interleaves elements of several sources; compared with copies element by element.
#include "copy/zip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "copy/instruction_set.hpp"
#include "copy/strided_copy.hpp"

namespace {

TEST(Zip, InterleavesElements) {
  std::mt19937 random(3);
  const std::string previous_set = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    for (const std::int64_t element_bytes : {1, 2, 3, 4, 8, 16})
      for (const int source_count : {2, 3, 4, 16})
        for (const std::int64_t count : {0, 1, 2, 7, 8, 15, 16, 17, 64, 100}) {
          const auto bytes = static_cast<std::size_t>(count * element_bytes);
          std::vector<std::vector<std::byte>> sources(static_cast<std::size_t>(source_count),
                                                      std::vector<std::byte>(bytes));
          std::vector<const std::byte*> addresses;
          for (auto& source : sources) {
            for (std::byte& byte : source) byte = static_cast<std::byte>(random());
            addresses.push_back(source.data());
          }
          std::vector<std::byte> expected;
          for (std::int64_t i = 0; i < count; ++i)
            for (const auto& source : sources)
              expected.insert(expected.end(), source.begin() + i * element_bytes,
                              source.begin() + (i + 1) * element_bytes);
          std::vector<std::byte> actual(expected.size() + 1, std::byte{7});
          expected.push_back(std::byte{7});
          const bool has_kernel = plait::copy::zip(actual.data(), addresses.data(), source_count, element_bytes, count);
          EXPECT_EQ(has_kernel, element_bytes == 4 || element_bytes == 8 || element_bytes == 16 ||
                                    (source_count == 2 && element_bytes < 3));
          if (has_kernel) {
            ASSERT_EQ(actual, expected) << set.name << ", " << source_count << " sources of " << element_bytes;
          }
        }
  }
  plait::copy::use_instruction_set(previous_set);
}

TEST(Zip, StoresWholeCacheLinesIfPossible) {
  constexpr std::size_t kLine = 64;
  std::mt19937 random(4);
  const std::string previous_set = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    for (const std::int64_t element_bytes : {8, 16, 64, 96, 192})
      for (const int source_count : {2, 3})
        for (const std::int64_t count : {4, 6, 12, 64}) {
          const bool can_store_lines = plait::copy::zips_lines(source_count, element_bytes, count);
          EXPECT_EQ(can_store_lines,
                    element_bytes % 64 == 0 || (element_bytes == 8 && source_count == 2 && count % 4 == 0));
          if (!can_store_lines) continue;
          std::vector<std::byte> memory(static_cast<std::size_t>(element_bytes * source_count * count) + 3 * kLine,
                                        std::byte{7});
          const std::size_t start = kLine + (kLine - reinterpret_cast<std::uintptr_t>(memory.data()) % kLine) % kLine;
          std::vector<std::byte> expected = memory;
          std::vector<std::vector<std::byte>> sources(static_cast<std::size_t>(source_count));
          std::vector<const std::byte*> addresses;
          for (auto& source : sources) {
            source.resize(static_cast<std::size_t>(count * element_bytes));
            for (std::byte& byte : source) byte = static_cast<std::byte>(random());
            addresses.push_back(source.data());
          }
          auto to = expected.begin() + static_cast<std::ptrdiff_t>(start);
          for (std::int64_t i = 0; i < count; ++i)
            for (const auto& source : sources)
              to = std::copy(source.begin() + i * element_bytes, source.begin() + (i + 1) * element_bytes, to);
          ASSERT_TRUE(plait::copy::zip(memory.data() + start, addresses.data(), source_count, element_bytes, count,
                                       plait::copy::Destination::kMemoryUnfenced));
          plait::copy::fence();
          ASSERT_EQ(memory, expected) << set.name << ", " << source_count << " sources of " << element_bytes;
        }
  }
  plait::copy::use_instruction_set(previous_set);
}

}  // namespace
