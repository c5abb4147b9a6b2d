// Stores of bytes: memory with faults, files of the operating system, and new files that replace old ones whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "folder.hpp"
#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace {

namespace fs = std::filesystem;
using plait::Error;
using plait::ErrorKind;
using plait::store::ReadSegment;
using plait::store::Store;
using plait::store::WriteSegment;
using plait::store::memory::MemoryStore;
using plait::store::posix::PosixStore;
using plait::store::posix::Replacement;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  Bytes result(text.size());
  std::memcpy(result.data(), text.data(), text.size());
  return result;
}

/// A folder of its own for each test.
class StoreInFolder : public plait_test::InFolder {
 protected:
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) result.insert(entry.path().filename());
    return result;
  }
};
using Posix = StoreInFolder;
using Replacing = StoreInFolder;

/// The error of a call: its text and errno.
template <typename Call>
std::pair<std::string, int> failure(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kSystem);
    return {error.what(), error.system_code()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "the message is: " << (text)

/// Reads and writes several segments at once, in any order of offsets.
void check_segments(Store& store) {
  Bytes first = bytes_of("abcd");
  Bytes second = bytes_of("EF");
  store.write({{6, second.data(), 2}, {0, first.data(), 4}, {3, nullptr, 0}});
  Bytes read(5);
  store.read({{5, read.data(), 3}, {1, read.data() + 3, 2}, {8, nullptr, 0}});
  EXPECT_EQ(read[1], std::byte{'E'});
  EXPECT_EQ(read[2], std::byte{'F'});
  EXPECT_EQ(read[3], std::byte{'b'});
  EXPECT_EQ(read[4], std::byte{'c'});
  const auto pending = store.submit_read({{0, read.data(), 2}});
  pending->complete();
  EXPECT_EQ(read[0], std::byte{'a'});
}

TEST(MemoryStore, ReadsAndWritesSegments) {
  MemoryStore store(8);
  EXPECT_EQ(store.size(), 8);
  check_segments(store);
  store.sync();
}

TEST(MemoryStore, RefusesWhatLiesOutside) {
  MemoryStore store(8);
  Bytes word(9);
  for (const auto& [offset, bytes] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 9}, {8, 1}, {-1, 1}, {9, 0}, {INT64_MAX, 1}, {4, INT64_MAX}})
    EXPECT_SAYS(failure([&] { store.read({{offset, word.data(), bytes}}); }).first, "the store has 8 bytes");
  EXPECT_NO_THROW(store.read({{8, word.data(), 0}}));
}

TEST(MemoryStore, FailsWhereItIsTold) {
  MemoryStore store(8);
  Bytes word(1);
  const auto read = [&] { store.read({{0, word.data(), 1}, {1, word.data(), 1}}); };
  store.fail_at(1);
  EXPECT_EQ(failure(read).second, EIO);
  EXPECT_NO_THROW(read());
  EXPECT_EQ(store.segments(), 4);
}

TEST_F(Posix, ReadsAndWritesSegments) {
  put("a", "--------");
  PosixStore store(path("a"), PosixStore::Access::kReadWrite);
  EXPECT_EQ(store.name(), path("a"));
  EXPECT_EQ(store.size(), 8);
  check_segments(store);
  store.sync();
  EXPECT_EQ(content("a"), "abcd--EF");
}

TEST_F(Posix, ReachesOffsetsPast32Bits) {
  put("a", "x");
  PosixStore store(path("a"), PosixStore::Access::kReadWrite);
  const std::int64_t far = (std::int64_t{1} << 33) + 5;
  const Bytes word = bytes_of("far");
  store.write({{far, word.data(), 3}});
  Bytes read(3);
  store.read({{far, read.data(), 3}});
  EXPECT_TRUE(read == word);
  EXPECT_EQ(store.size(), far + 3);
}

TEST_F(Posix, MovesNeighboursTogether) {
  // More neighbours than one call takes, with gaps in between, empty ones, and an end of the file inside of a call.
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
    const std::int64_t from = 3 * kCount - offset - bytes;  // in memory in the other direction
    if (random() % 500 != 0) {
      writes.push_back({offset, memory.data() + from, bytes});
      for (std::int64_t i = 0; i < bytes; ++i)
        expected[static_cast<std::size_t>(offset + i)] = static_cast<char>(memory[static_cast<std::size_t>(from + i)]);
    }
    offset += bytes;
  }
  store.write(writes);
  EXPECT_EQ(content("a"), expected);
  Bytes found(memory.size());
  std::vector<ReadSegment> reads;
  for (const WriteSegment& write : writes)
    reads.push_back({write.offset, found.data() + (write.data - memory.data()), write.bytes});
  store.read(reads);
  for (const WriteSegment& write : writes) {
    const auto from = write.data - memory.data();
    ASSERT_TRUE(std::equal(write.data, write.data + write.bytes, found.begin() + from));
  }
  fs::resize_file(path("a"), 1000);
  EXPECT_SAYS(failure([&] { store.read(reads); }).first, path("a") + " at offset 1000");
  store.read({{0, found.data(), 400}, {400, found.data() + 500, 600}});
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
  const Bytes word = bytes_of("x");
  const auto [text, code] = failure([&] { store.write({{2, word.data(), 1}}); });
  EXPECT_SAYS(text, "cannot write " + path("a") + " at offset 2");
  EXPECT_EQ(code, EBADF);
}

TEST_F(Posix, WhatCannotBeOpenedIsSaidSo) {
  const auto opened = [&](const std::string& name, PosixStore::Access access = PosixStore::Access::kRead) {
    return failure([&] { PosixStore(path(name), access); });
  };
  EXPECT_SAYS(opened("absent").first, "check the name");
  EXPECT_EQ(opened("absent").second, ENOENT);
  EXPECT_SAYS(opened("no/where").first, "the folder " + path("no") + " does not exist");
  fs::create_directory(path("folder"));
  EXPECT_EQ(opened("folder").second, EISDIR);
  EXPECT_EQ(opened("folder", PosixStore::Access::kReadWrite).second, EISDIR);
  put("file", "x");
  EXPECT_EQ(opened("file/x").second, ENOTDIR);
  EXPECT_EQ(failure([] { PosixStore("/dev/zero", PosixStore::Access::kRead); }).second, ESPIPE);
}

TEST_F(Posix, APipeIsRefusedWithoutWaitingForItsOtherEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const auto access : {PosixStore::Access::kRead, PosixStore::Access::kReadWrite})
    EXPECT_SAYS(failure([&] { PosixStore(path("pipe"), access); }).first, "not a regular file");
}

TEST_F(Replacing, AppearsWholeWhenCommitted) {
  put("a", "old");
  const Bytes head = bytes_of("head");
  {
    Replacement replacement(path("a"), 10, head);
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(names().size(), 2U);
    EXPECT_EQ(fs::path(replacement.temporary_path()).parent_path(), folder_);
    EXPECT_EQ(fs::file_size(replacement.temporary_path()), 10U);
    replacement.commit();
    EXPECT_EQ(content("a"), std::string("head\0\0\0\0\0\0", 10));
  }
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

TEST_F(Replacing, DiscardedNothingHappens) {
  put("a", "old");
  {
    Replacement replacement(path("a"), 10, {});
    replacement.discard();
    EXPECT_EQ(names(), std::set<std::string>{"a"});
  }
  {
    const Replacement replacement(path("b"), 0, {});
  }
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_EQ(content("a"), "old");
}

TEST_F(Replacing, TwoAtOnceDoNotMeet) {
  put("a", "0");
  Replacement one(path("a"), 1, bytes_of("1"));
  Replacement two(path("a"), 1, bytes_of("2"));
  one.commit();
  EXPECT_EQ(content("a"), "1");
  two.commit();
  EXPECT_EQ(content("a"), "2");
}

TEST_F(Replacing, KeepsPermissionsAndLinks) {
  put("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink("a", path("link"));
  Replacement(path("link"), 3, bytes_of("new")).commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("a"), "new");
  struct stat status{};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(names(), (std::set<std::string>{"a", "link"}));
}

TEST_F(Replacing, ALinkToNothingGetsItsTarget) {
  fs::create_directory(path("elsewhere"));
  fs::create_symlink("elsewhere/a", path("link"));
  Replacement(path("link"), 3, bytes_of("new")).commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("elsewhere/a"), "new");
}

TEST_F(Replacing, CannotBeInAFolderThatIsNotThere) {
  EXPECT_SAYS(failure([&] { Replacement(path("no/a"), 1, {}); }).first, "folder");
  fs::create_directory(path("folder"));
  EXPECT_EQ(failure([&] { Replacement(path("folder"), 1, {}); }).second, EISDIR);
  put("file", "x");
  EXPECT_EQ(failure([&] { Replacement(path("file/a"), 1, {}); }).second, ENOTDIR);
  EXPECT_EQ(names(), (std::set<std::string>{"folder", "file"}));
}

TEST_F(Replacing, RefusesMoreThanTheDiskHolds) {
  const auto [text, code] = failure([&] { Replacement(path("a"), std::int64_t{1} << 60, {}); });
  EXPECT_TRUE(code == ENOSPC || code == EFBIG) << text;
  EXPECT_SAYS(text, path("a"));
  EXPECT_EQ(names(), std::set<std::string>{});
}

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// A process that has ended and was waited for.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(Replacing, RemovesWhatDeadProcessesLeft) {
  const std::string prefix = ".a.plait-" + host() + "-";
  const std::string dead = std::to_string(dead_process());
  const std::set<std::string> stay{
      "a",
      prefix + "1-0",                            // alive
      ".a.plait-elsewhere-" + dead + "-0",       // of another host
      ".b.plait-" + host() + "-" + dead + "-0",  // of another file
      prefix + dead,                             // not a name that we give
      prefix + "-5-0",
      prefix + "x" + dead + "-0",
  };
  for (const std::string& name : stay) put(name, "x");
  put(prefix + dead + "-0", "x");
  put(prefix + dead + "-17", "x");
  put(prefix + std::to_string(::getpid()) + "-900", "x");  // of an earlier process with our number: not locked
  {
    const Replacement replacement(path("a"), 1, {});
  }
  EXPECT_EQ(names(), stay);
}

}  // namespace
