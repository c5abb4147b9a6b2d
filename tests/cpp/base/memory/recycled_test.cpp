// Blocks of memory for results, which are cached when they are freed: their reuse, the bound on the cache, and blocks
// in forked children.
#include "base/memory/recycled.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "plait/error.hpp"

namespace {

using plait::base::kMinRecycled;
using plait::base::RecycledBlock;
using plait::base::set_max_recycled;
using plait::base::waiting_recycled;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class RecycledBlocks : public testing::Test {
 protected:
  RecycledBlocks() : previous_max_(set_max_recycled(0)) { set_max_recycled(64 * kMiB); }
  ~RecycledBlocks() override {
    set_max_recycled(0);
    set_max_recycled(previous_max_);
  }

  /// Allocates, writes and frees a block. Returns its address, to compare later blocks with it.
  static std::byte* allocate_and_free(std::int64_t bytes) {
    const RecycledBlock block(bytes);
    std::memset(block.data(), 1, static_cast<std::size_t>(bytes));
    return block.data();
  }

 private:
  std::int64_t previous_max_;
};

TEST_F(RecycledBlocks, TheNextBlockOfAboutTheSameSizeIsTheSameMemory) {
  std::byte* const first = allocate_and_free(9 * kMiB);
  EXPECT_GE(waiting_recycled(), 9 * kMiB);
  const RecycledBlock next(9 * kMiB - 5);
  EXPECT_EQ(next.data(), first);
  EXPECT_EQ(waiting_recycled(), 0);
  const RecycledBlock other(9 * kMiB);
  EXPECT_NE(other.data(), first);
}

TEST_F(RecycledBlocks, BlocksHaveTheRequestedBytesAndLittleMore) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const std::int64_t bytes : {std::int64_t{1}, kMinRecycled, kMinRecycled + 1, 3 * kMiB - 7, 33 * kMiB}) {
    const RecycledBlock block(bytes);
    EXPECT_GE(block.bytes(), bytes);
    EXPECT_LE(block.bytes(), std::max(bytes, kMinRecycled) * 9 / 8 + 1) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % page, 0U);
    std::memset(block.data(), 1, static_cast<std::size_t>(block.bytes()));
  }
}

TEST_F(RecycledBlocks, CachedBlocksAreBoundedAndTheOldestIsFreedFirst) {
  set_max_recycled(20 * kMiB);
  allocate_and_free(8 * kMiB);
  std::byte* const middle = allocate_and_free(9 * kMiB);
  allocate_and_free(10 * kMiB);
  EXPECT_LE(waiting_recycled(), 20 * kMiB);
  EXPECT_EQ(allocate_and_free(9 * kMiB), middle);
  allocate_and_free(21 * kMiB);
  EXPECT_LE(waiting_recycled(), 20 * kMiB);
  set_max_recycled(9 * kMiB);
  EXPECT_LE(waiting_recycled(), 9 * kMiB);
  EXPECT_EQ(set_max_recycled(0), 9 * kMiB);
  EXPECT_EQ(waiting_recycled(), 0);
  allocate_and_free(8 * kMiB);
  EXPECT_EQ(waiting_recycled(), 0);
}

TEST_F(RecycledBlocks, ManySmallBlocksAreBoundedAsWell) {
  set_max_recycled(1024 * kMiB);
  std::vector<std::unique_ptr<RecycledBlock>> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(std::make_unique<RecycledBlock>(kMinRecycled));
  blocks.clear();
  EXPECT_GE(waiting_recycled(), 32 * kMinRecycled);
  EXPECT_LE(waiting_recycled(), 64 * kMinRecycled);
}

TEST_F(RecycledBlocks, ThreadsGetDifferentBlocks) {
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const RecycledBlock block(2 * kMiB);
        std::memset(block.data(), t, static_cast<std::size_t>(block.bytes()));
        for (std::int64_t k = 0; k < block.bytes(); k += 4096) ASSERT_EQ(block.data()[k], std::byte(t));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(waiting_recycled(), 64 * kMiB);
}

TEST_F(RecycledBlocks, AChildHasNoCachedBlocksAndMayFreeBlocksOfItsParent) {
  auto parent_block = std::make_unique<RecycledBlock>(8 * kMiB);
  std::memset(parent_block->data(), 7, 8U << 20);
  std::byte* const cached = allocate_and_free(16 * kMiB);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    bool is_right = waiting_recycled() == 0 && parent_block->data()[5] == std::byte{7};
    unsigned char resident = 0;
    is_right = is_right && ::mincore(cached, 1, &resident) != 0;  // fails because the block is not mapped in the child
    std::memset(parent_block->data(), 8, 8U << 20);
    parent_block.reset();
    is_right = is_right && waiting_recycled() >= 8 * kMiB;
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parent_block->data()[5], std::byte{7});
  EXPECT_EQ(allocate_and_free(16 * kMiB), cached);
  const RecycledBlock reused(16 * kMiB);
  const pid_t next = ::fork();  // a block from the cache is inherited like any other block
  if (next == 0) ::_exit(reused.data()[5] == std::byte{1} ? 0 : 1);
  ::waitpid(next, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(RecycledBlocks, BlocksThatAreTooLargeThrow) {
  allocate_and_free(8 * kMiB);
  for (const std::int64_t bytes :
       {std::int64_t{1} << 60, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()})
    EXPECT_THROW(RecycledBlock{bytes}, std::bad_alloc) << bytes;
  EXPECT_EQ(waiting_recycled(), 0);
  EXPECT_THROW(set_max_recycled(-1), plait::Error);
}

TEST_F(RecycledBlocks, NothingIsCachedIfAddressSpaceIsLimited) {
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    allocate_and_free(8 * kMiB);
    auto parent_block = std::make_unique<RecycledBlock>(16 * kMiB);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      allocate_and_free(8 * kMiB);
      bool is_right = waiting_recycled() >= 8 * kMiB;
      rlimit limit{};
      ::getrlimit(kind, &limit);
      limit.rlim_cur = rlim_t{1} << 60;  // larger than the address space, so that nothing else fails
      is_right = is_right && ::setrlimit(kind, &limit) == 0;
      parent_block.reset();
      ::_exit(is_right && waiting_recycled() == 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// Each case runs in its own process, because the environment variable is read only once.
TEST(RecycledSetting, IsReadAtTheFirstUse) {
  const auto in_child = [](const char* value, auto&& body) {
    const std::string setting = value;
    EXPECT_EXIT(
        {
          ::setenv("PLAIT_RECYCLED_MEMORY", setting.c_str(), 1);
          std::exit(body() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << value;
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  in_child("1234567", [] { return plait::base::max_recycled() == 1234567; });
  in_child("0", [] { return plait::base::max_recycled() == 0; });
  in_child("", [] { return plait::base::max_recycled() > kMiB; });
  for (const char* bad : {"much", "12k", "-5", " ", "99999999999999999999"})
    in_child(bad, [] {
      try {
        const RecycledBlock block(kMiB);
        return false;
      } catch (const plait::Error& error) {
        return std::string(error.what()).find("PLAIT_RECYCLED_MEMORY=") == 0;
      }
    });
}

}  // namespace
