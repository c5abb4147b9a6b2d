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
  const std::string before = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    for (const std::int64_t element : {1, 2, 3, 4, 8, 16})
      for (const int ways : {2, 3, 4, 16})
        for (const std::int64_t count : {0, 1, 2, 7, 8, 15, 16, 17, 64, 100}) {
          const auto bytes = static_cast<std::size_t>(count * element);
          std::vector<std::vector<std::byte>> sources(static_cast<std::size_t>(ways), std::vector<std::byte>(bytes));
          std::vector<const std::byte*> addresses;
          for (auto& source : sources) {
            for (std::byte& byte : source) byte = static_cast<std::byte>(random());
            addresses.push_back(source.data());
          }
          std::vector<std::byte> expected;
          for (std::int64_t i = 0; i < count; ++i)
            for (const auto& source : sources)
              expected.insert(expected.end(), source.begin() + i * element, source.begin() + (i + 1) * element);
          std::vector<std::byte> actual(expected.size() + 1, std::byte{7});
          expected.push_back(std::byte{7});
          const bool done = plait::copy::zip(actual.data(), addresses.data(), ways, element, count);
          EXPECT_EQ(done, element == 4 || element == 8 || element == 16 || (ways == 2 && element < 3));
          if (done) {
            ASSERT_EQ(actual, expected) << set.name << ", " << ways << " sources of " << element;
          }
        }
  }
  plait::copy::use_instruction_set(before);
}

TEST(Zip, StoresWholeCacheLinesIfPossible) {
  constexpr std::size_t kLine = 64;
  std::mt19937 random(4);
  const std::string before = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    for (const std::int64_t element : {8, 16, 64, 96, 192})
      for (const int ways : {2, 3})
        for (const std::int64_t count : {4, 6, 12, 64}) {
          const bool lines = plait::copy::zips_lines(ways, element, count);
          EXPECT_EQ(lines, element % 64 == 0 || (element == 8 && ways == 2 && count % 4 == 0));
          if (!lines) continue;
          std::vector<std::byte> memory(static_cast<std::size_t>(element * ways * count) + 3 * kLine, std::byte{7});
          const std::size_t start = kLine + (kLine - reinterpret_cast<std::uintptr_t>(memory.data()) % kLine) % kLine;
          std::vector<std::byte> expected = memory;
          std::vector<std::vector<std::byte>> sources(static_cast<std::size_t>(ways));
          std::vector<const std::byte*> addresses;
          for (auto& source : sources) {
            source.resize(static_cast<std::size_t>(count * element));
            for (std::byte& byte : source) byte = static_cast<std::byte>(random());
            addresses.push_back(source.data());
          }
          auto to = expected.begin() + static_cast<std::ptrdiff_t>(start);
          for (std::int64_t i = 0; i < count; ++i)
            for (const auto& source : sources)
              to = std::copy(source.begin() + i * element, source.begin() + (i + 1) * element, to);
          ASSERT_TRUE(plait::copy::zip(memory.data() + start, addresses.data(), ways, element, count,
                                       plait::copy::Destination::kMemoryUnfenced));
          plait::copy::fence();
          ASSERT_EQ(memory, expected) << set.name << ", " << ways << " sources of " << element;
        }
  }
  plait::copy::use_instruction_set(before);
}

}  // namespace
