// Stores of bytes in files of the operating system.
#include "store/posix/posix_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "store_case.hpp"

namespace {

namespace fs = std::filesystem;
using namespace store_case;
using plait::store::ReadSegment;
using plait::store::WriteSegment;
using plait::store::posix::PosixStore;
using Posix = StoreInFolder;

TEST_F(Posix, ReadsAndWritesSegments) {
  put("a", "--------");
  PosixStore store(path("a"), PosixStore::Access::kReadWrite);
  EXPECT_EQ(store.name(), path("a"));
  EXPECT_EQ(store.size(), 8);
  check_segments(store);
  store.sync();
  EXPECT_EQ(content("a"), "abcd--EF");
}

TEST_F(Posix, AccessesOffsetsPast32Bits) {
  put("a", "x");
  PosixStore store(path("a"), PosixStore::Access::kReadWrite);
  const std::int64_t far_offset = (std::int64_t{1} << 33) + 5;
  const Bytes word = to_bytes("far");
  store.write({{far_offset, word.data(), 3}});
  Bytes read(3);
  store.read({{far_offset, read.data(), 3}});
  EXPECT_TRUE(read == word);
  EXPECT_EQ(store.size(), far_offset + 3);
}

TEST_F(Posix, TransfersAdjacentSegmentsTogether) {
  // More adjacent segments than one system call accepts, with gaps, empty segments, and the end of the file inside a
  // call.
  constexpr std::int64_t kCount = 5000;
  put("a", std::string(3 * kCount, '-'));
  PosixStore store(path("a"), PosixStore::Access::kReadWrite);
  std::mt19937 random(5);
  std::string expected(3 * kCount, '-');
  Bytes memory(3 * kCount);
  for (std::byte& value : memory) value = static_cast<std::byte>('a' + random() % 26);
  std::vector<WriteSegment> writes;
  for (std::int64_t offset = 0; offset < 3 * kCount - 9;) {
    const auto bytes = static_cast<std::int64_t>(random() % 4);
    const std::int64_t memory_offset = 3 * kCount - offset - bytes;  // in memory in reverse order
    if (random() % 500 != 0) {
      writes.push_back({offset, memory.data() + memory_offset, bytes});
      for (std::int64_t i = 0; i < bytes; ++i)
        expected[static_cast<std::size_t>(offset + i)] =
            static_cast<char>(memory[static_cast<std::size_t>(memory_offset + i)]);
    }
    offset += bytes;
  }
  store.write(writes);
  EXPECT_EQ(content("a"), expected);
  Bytes actual(memory.size());
  std::vector<ReadSegment> reads;
  for (const WriteSegment& write : writes)
    reads.push_back({write.offset, actual.data() + (write.data - memory.data()), write.bytes});
  store.read(reads);
  for (const WriteSegment& write : writes) {
    const auto memory_offset = write.data - memory.data();
    ASSERT_TRUE(std::equal(write.data, write.data + write.bytes, actual.begin() + memory_offset));
  }
  fs::resize_file(path("a"), 1000);
  EXPECT_SAYS(failure([&] { store.read(reads); }).first, path("a") + " at offset 1000");
  store.read({{0, actual.data(), 400}, {400, actual.data() + 500, 600}});
}

TEST_F(Posix, TheEndOfTheFileIsAnErrorWithItsOffset) {
  put("a", "12345");
  PosixStore store(path("a"), PosixStore::Access::kRead);
  Bytes read(4);
  const std::string text = failure([&] { store.read({{3, read.data(), 4}}); }).first;
  EXPECT_SAYS(text, path("a") + " at offset 5");
  EXPECT_SAYS(text, "2 more bytes");
}

TEST_F(Posix, AWriteWithoutPermissionNamesTheOffset) {
  put("a", "12345");
  PosixStore store(path("a"), PosixStore::Access::kRead);
  const Bytes word = to_bytes("x");
  const auto [text, code] = failure([&] { store.write({{2, word.data(), 1}}); });
  EXPECT_SAYS(text, "cannot write " + path("a") + " at offset 2");
  EXPECT_EQ(code, EBADF);
}

TEST_F(Posix, FilesThatCannotBeOpenedAreErrors) {
  const auto open_error = [&](const std::string& name, PosixStore::Access access = PosixStore::Access::kRead) {
    return failure([&] { PosixStore(path(name), access); });
  };
  EXPECT_SAYS(open_error("absent").first, "check the name");
  EXPECT_EQ(open_error("absent").second, ENOENT);
  EXPECT_SAYS(open_error("no/where").first, "the folder " + path("no") + " does not exist");
  fs::create_directory(path("folder"));
  EXPECT_EQ(open_error("folder").second, EISDIR);
  EXPECT_EQ(open_error("folder", PosixStore::Access::kReadWrite).second, EISDIR);
  put("file", "x");
  EXPECT_EQ(open_error("file/x").second, ENOTDIR);
  EXPECT_EQ(failure([] { PosixStore("/dev/zero", PosixStore::Access::kRead); }).second, ESPIPE);
}

TEST_F(Posix, APipeIsAnErrorWithoutWaitingForItsOtherEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const auto access : {PosixStore::Access::kRead, PosixStore::Access::kReadWrite})
    EXPECT_SAYS(failure([&] { PosixStore(path("pipe"), access); }).first, "not a regular file");
}

}  // namespace
