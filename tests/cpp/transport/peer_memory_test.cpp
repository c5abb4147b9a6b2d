// Reads of another process's memory by system calls. In this test the other process is this process itself.
#include "transport/peer_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>
#include <vector>

#include "plait/error.hpp"

namespace {

using plait::transport::PeerCopy;
using plait::transport::PeerMemory;
using plait::transport::PeerToken;

TEST(PeerMemory, IsAbleIfTheTokensOfAllProcessesCanBeRead) {
  PeerMemory memory;
  EXPECT_FALSE(memory.tried());
  EXPECT_FALSE(memory.able());
  const PeerToken token = PeerMemory::token();
  EXPECT_EQ(token.process, ::getpid());
  memory.try_all(std::vector{token, token});
  EXPECT_TRUE(memory.tried());
  EXPECT_TRUE(memory.able());
}

TEST(PeerMemory, IsNotAbleIfATokenDiffersOrCannotBeRead) {
  PeerToken wrong = PeerMemory::token();
  ++wrong.word;
  PeerMemory memory;
  memory.try_all(std::vector{PeerMemory::token(), wrong});
  EXPECT_TRUE(memory.tried());
  EXPECT_FALSE(memory.able());
  PeerToken unmapped = PeerMemory::token();
  unmapped.address = 8;
  memory.try_all(std::vector{unmapped});
  EXPECT_FALSE(memory.able());
}

TEST(PeerMemory, CopiesManyPieces) {
  constexpr int kCount = 3000;  // more than one system call accepts
  std::vector<int> from(2 * kCount);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> to(3 * kCount, -1);
  std::vector<PeerCopy> copies;
  for (int i = 0; i < kCount; ++i)
    copies.push_back({reinterpret_cast<const std::byte*>(&from[static_cast<std::size_t>(2 * i)]),
                      reinterpret_cast<std::byte*>(&to[static_cast<std::size_t>(i < 10 ? i : 3 * i)]), sizeof(int)});
  PeerMemory memory;
  memory.try_all(std::vector{PeerMemory::token()});
  ASSERT_TRUE(memory.able());
  memory.read(0, copies);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(to[static_cast<std::size_t>(i < 10 ? i : 3 * i)], 2 * i);
  EXPECT_EQ(to[10], -1);
  memory.read(0, {});
}

TEST(PeerMemory, ReportsMemoryThatCannotBeRead) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const unreadable = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(unreadable, MAP_FAILED);
  const auto* const address = static_cast<const std::byte*>(unreadable);
  EXPECT_FALSE(PeerMemory::readable(address));
  int value = 0;
  EXPECT_TRUE(PeerMemory::readable(reinterpret_cast<const std::byte*>(&value)));
  PeerMemory memory;
  memory.try_all(std::vector{PeerMemory::token()});
  const std::vector<PeerCopy> copies{{address, reinterpret_cast<std::byte*>(&value), sizeof value}};
  try {
    memory.read(0, copies);
    FAIL() << "nothing was thrown";
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.system_code(), EFAULT);
    EXPECT_NE(std::string(error.what()).find("cannot read the array of process"), std::string::npos);
  }
  ::munmap(unreadable, page);
}

}  // namespace
