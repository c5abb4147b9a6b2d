// join() concatenates runs; compared with copies byte by byte, at every position in a cache line.
#include "copy/join.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "copy/instruction_set.hpp"
#include "copy/strided_copy.hpp"

namespace {

using plait::copy::Run;

constexpr std::size_t kCacheLine = 64;

/// Memory that begins at a cache line.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t bytes) : bytes_(bytes), memory_(bytes + kCacheLine, std::byte{7}) {}
  std::byte* data() {
    return memory_.data() + (kCacheLine - reinterpret_cast<std::uintptr_t>(memory_.data()) % kCacheLine) % kCacheLine;
  }
  std::vector<std::byte> content() { return {data(), data() + bytes_}; }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// Joins random runs of these lengths into a target that begins `start` bytes after a cache line, and expects that
/// nothing else changes. Each run is allocated separately, so that sanitizers detect reads beyond a run.
void expect_joined(const std::vector<std::int64_t>& lengths, std::size_t start, std::mt19937& random) {
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::vector<Run> runs;
  std::vector<std::byte> joined;
  for (const std::int64_t length : lengths) {
    blocks.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(length)));
    for (std::int64_t i = 0; i < length; ++i) {
      blocks.back()[static_cast<std::size_t>(i)] = static_cast<std::byte>(random());
      joined.push_back(blocks.back()[static_cast<std::size_t>(i)]);
    }
    runs.push_back({blocks.back().get(), length});
  }
  AlignedMemory target(start + joined.size() + 2 * kCacheLine);
  std::vector<std::byte> expected = target.content();
  std::copy(joined.begin(), joined.end(), expected.begin() + static_cast<std::ptrdiff_t>(start));
  plait::copy::join(target.data() + start, runs);
  plait::copy::fence();
  EXPECT_EQ(target.content(), expected) << lengths.size() << " runs from position " << start;
}

TEST(Join, ConcatenatesRunsAndChangesNothingElse) {
  std::mt19937 random(5);
  const std::string previous_set = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    SCOPED_TRACE(set.name);
    for (std::size_t start = 0; start < kCacheLine; ++start) {
      expect_joined({}, start, random);
      for (const std::int64_t width : {1, 8, 63, 64, 65, 200}) expect_joined({width}, start, random);
      expect_joined({1, 1, 1, 62, 64, 3, 128, 5}, start, random);
      for (int trial = 0; trial < 5; ++trial) {
        std::vector<std::int64_t> lengths(1 + random() % 40);
        for (std::int64_t& length : lengths)
          length = 1 + static_cast<std::int64_t>(random() % (random() % 4 == 0 ? 400 : 40));
        expect_joined(lengths, start, random);
      }
    }
  }
  plait::copy::use_instruction_set(previous_set);
}

/// A page between two inaccessible pages.
class GuardedPage {
 public:
  GuardedPage() : bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    void* const memory = ::mmap(nullptr, 3 * bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED ||
        ::mprotect(static_cast<std::byte*>(memory) + bytes_, bytes_, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(memory) + bytes_;
  }
  ~GuardedPage() { ::munmap(begin_ - bytes_, 3 * bytes_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  std::byte* begin() const { return begin_; }
  std::byte* end() const { return begin_ + bytes_; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

TEST(Join, AccessesNoOtherPage) {
  const GuardedPage first;
  const GuardedPage last;
  const GuardedPage to;
  for (std::byte* byte = first.begin(); byte < first.end(); ++byte)
    *byte = static_cast<std::byte>(byte - first.begin());
  std::memcpy(last.begin(), first.begin(), static_cast<std::size_t>(first.end() - first.begin()));
  const std::string previous_set = plait::copy::instruction_set();
  for (const auto& set : plait::copy::instruction_sets()) {
    plait::copy::use_instruction_set(set.name);
    SCOPED_TRACE(set.name);
    for (std::int64_t width = 1; width < 150; ++width)
      for (const std::int64_t other : {1, 7, 63, 64, 65, 130}) {
        const std::vector<plait::copy::Run> runs{
            {last.end() - width, width}, {first.begin(), other}, {last.end() - other, other}};
        std::vector<std::byte> joined;
        for (const plait::copy::Run& run : runs) joined.insert(joined.end(), run.from, run.from + run.bytes);
        for (std::byte* const target : {to.begin(), to.end() - joined.size()}) {
          plait::copy::join(target, runs);
          plait::copy::fence();
          ASSERT_EQ(std::memcmp(target, joined.data(), joined.size()), 0) << width << " and " << other << " bytes";
        }
      }
  }
  plait::copy::use_instruction_set(previous_set);
}

}  // namespace
