// Reads past the page cache: the bytes are right, whether they are cached, changed or only on the disk.
#include "store/posix/direct_reads.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "store/posix/posix_store.hpp"
#include "store_case.hpp"

namespace {

namespace fs = std::filesystem;
using namespace store_case;
using plait::store::ReadSegment;
using plait::store::posix::Descriptor;
using plait::store::posix::DirectIo;
using plait::store::posix::DirectReads;
using plait::store::posix::PosixStore;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class DirectIoTest : public StoreInFolder {
 protected:
  ~DirectIoTest() override { ::unsetenv("PLAIT_DIRECT_IO"); }

  static void set(const char* value) { ::setenv("PLAIT_DIRECT_IO", value, 1); }

  /// Makes a file of random bytes that are on the disk and not in the page cache; returns them.
  std::string make(std::int64_t bytes) {
    std::string content(static_cast<std::size_t>(bytes), '\0');
    for (char& byte : content) byte = static_cast<char>(random_());
    put("a", content);
    drop(0, 0);
    return content;
  }
  /// Writes the file to the disk and drops a range of it from the page cache; `bytes` = 0 drops up to the end.
  void drop(std::int64_t offset, std::int64_t bytes) const {
    const Descriptor file(::open(path("a").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::fdatasync(file.number()), 0);
    ASSERT_EQ(::posix_fadvise(file.number(), offset, bytes, POSIX_FADV_DONTNEED), 0);
  }
  /// Writes into the file; the changes stay in the page cache.
  void overwrite(std::int64_t offset, const std::string& content) const {
    const Descriptor file(::open(path("a").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.number(), content.data(), content.size(), offset), static_cast<ssize_t>(content.size()));
  }
  /// True if files here can be read past the page cache, and the kernel reports what is cached.
  bool possible() {
    set("auto");
    return PosixStore(path("a"), PosixStore::Access::kRead).is_cold();
  }
  static bool went_past(const PosixStore& store) {
    return !store.description().empty() &&
           store.description().find("past the page cache not tried") == std::string::npos;
  }
  static bool same(const Bytes& actual, std::int64_t at, const std::string& all, std::int64_t offset,
                   std::int64_t bytes) {
    return std::memcmp(actual.data() + at, all.data() + offset, static_cast<std::size_t>(bytes)) == 0;
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  std::mt19937_64 random_{7};
};

TEST_F(DirectIoTest, ReadsTheCurrentContent) {
  std::string all = make(9 * kMiB + 123);
  const auto bytes = static_cast<std::int64_t>(all.size());
  for (const char* setting : {"always", "auto", "never"}) {
    set(setting);
    PosixStore store(path("a"), PosixStore::Access::kRead);
    Bytes actual(all.size());
    for (int round = 0; round < 60; ++round) {
      // Some of the file is cached, some is changed, and most is only on the disk.
      const std::int64_t begin = below(bytes);
      if (round % 4 == 0) drop(0, 0);
      if (round % 4 == 1) drop(begin, 1 + below(bytes - begin));
      if (round % 3 == 2) {
        const std::string changes(static_cast<std::size_t>(1 + below(std::min(bytes - begin, kMiB))), 'n');
        overwrite(begin, changes);
        all.replace(static_cast<std::size_t>(begin), changes.size(), changes);
      }
      const std::int64_t offset = below(bytes - DirectReads::kMinBytes);
      const std::int64_t size = round % 5 == 0 ? bytes - offset : 1 + below(bytes - offset);
      const std::int64_t cut = below(size + 1);
      // Neighbours in the file that are in reverse order in memory, and not at the beginning of a page.
      store.read({{offset, actual.data() + (size - cut), cut}, {offset + cut, actual.data(), size - cut}});
      ASSERT_TRUE(same(actual, size - cut, all, offset, cut)) << setting << ' ' << round;
      ASSERT_TRUE(same(actual, 0, all, offset + cut, size - cut)) << setting << ' ' << round;
    }
  }
}

TEST_F(DirectIoTest, BypassesTheCacheAsSet) {
  const std::string all = make(8 * kMiB);
  if (!possible()) GTEST_SKIP() << "the files here cannot be read past the page cache";
  Bytes actual(all.size());
  for (const char* setting : {"always", "never"}) {
    set(setting);
    drop(0, 0);
    PosixStore store(path("a"), PosixStore::Access::kRead);
    store.read({{0, actual.data(), 8 * kMiB}});
    EXPECT_TRUE(same(actual, 0, all, 0, 8 * kMiB));
    EXPECT_EQ(went_past(store), setting == std::string("always"));
    // Bytes that were read past the cache are not in it.
    set("auto");
    EXPECT_EQ(PosixStore(path("a"), PosixStore::Access::kRead).is_cold(), setting == std::string("always"));
  }
}

TEST_F(DirectIoTest, CachesWhatIsReadAgain) {
  make(16 * kMiB);
  if (!possible()) GTEST_SKIP() << "the files here cannot be read past the page cache";
  PosixStore store(path("a"), PosixStore::Access::kRead);
  Bytes actual(kMiB);
  const auto read_all = [&] {
    for (std::int64_t at = 0; at < 16 * kMiB; at += kMiB) store.read({{at, actual.data(), kMiB}});
  };
  read_all();
  EXPECT_TRUE(went_past(store));
  drop(0, 0);
  EXPECT_TRUE(store.is_cold());
  read_all();
  EXPECT_FALSE(store.is_cold());
}

TEST_F(DirectIoTest, SmallRequestsAndCachedBytesAreReadThroughTheCache) {
  const std::string all = make(8 * kMiB);
  set("always");
  Bytes actual(all.size());
  PosixStore small(path("a"), PosixStore::Access::kRead);
  for (std::int64_t at = 0; at < 8 * kMiB; at += 100'000)
    small.read({{at, actual.data() + at, std::min<std::int64_t>(100'000, 8 * kMiB - at)}});
  EXPECT_TRUE(same(actual, 0, all, 0, 8 * kMiB));
  EXPECT_FALSE(went_past(small));
  PosixStore cached(path("a"), PosixStore::Access::kRead);
  if (cached.is_cold()) GTEST_SKIP() << "the files here do not stay in the page cache";
  std::fill(actual.begin(), actual.end(), std::byte{0});
  cached.read({{0, actual.data(), 8 * kMiB}});
  EXPECT_TRUE(same(actual, 0, all, 0, 8 * kMiB));
}

TEST_F(DirectIoTest, TheEndOfTheFileIsAnErrorWithItsOffset) {
  make(2 * kMiB + 77);
  set("always");
  PosixStore store(path("a"), PosixStore::Access::kRead);
  Bytes actual(3 * kMiB);
  EXPECT_SAYS(failure([&] { store.read({{5, actual.data(), 3 * kMiB}}); }).first,
              path("a") + " at offset " + std::to_string(2 * kMiB + 77));
  drop(0, 0);
  fs::resize_file(path("a"), kMiB + 1);
  EXPECT_SAYS(failure([&] { store.read({{0, actual.data(), 2 * kMiB}}); }).first,
              path("a") + " at offset " + std::to_string(kMiB + 1));
}

TEST_F(DirectIoTest, FilesInMemoryAreReadAsUsual) {
  const fs::path folder = "/dev/shm";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no file system in memory here";
  const std::string name = folder / ("plait-direct-reads-" + std::to_string(::getpid()));
  const std::string content(4 * kMiB + 5, 'm');
  std::ofstream(name, std::ios::binary) << content;
  for (const char* setting : {"always", "auto"}) {
    set(setting);
    PosixStore store(name, PosixStore::Access::kRead);
    EXPECT_FALSE(store.is_cold());
    Bytes actual(content.size());
    store.read({{0, actual.data(), 4 * kMiB + 5}});
    EXPECT_TRUE(same(actual, 0, content, 0, 4 * kMiB + 5));
  }
  fs::remove(name);
}

TEST_F(DirectIoTest, UnknownSettingsAreErrors) {
  make(10);
  set("sometimes");
  try {
    PosixStore store(path("a"), PosixStore::Access::kRead);
    FAIL() << "no error";
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    EXPECT_SAYS(std::string(error.what()), "PLAIT_DIRECT_IO=sometimes is not known; use auto, never or always");
  }
  set("");
  EXPECT_EQ(plait::store::posix::direct_io_setting(), DirectIo::kAutomatic);
}

}  // namespace
