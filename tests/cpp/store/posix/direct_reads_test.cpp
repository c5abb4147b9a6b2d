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

  static void set_direct_io(const char* value) { ::setenv("PLAIT_DIRECT_IO", value, 1); }

  /// Makes a file of random bytes that are on the disk and not in the page cache, and returns the bytes.
  std::string make_uncached_file(std::int64_t bytes) {
    std::string content(static_cast<std::size_t>(bytes), '\0');
    for (char& byte : content) byte = static_cast<char>(random_());
    put("a", content);
    drop_from_cache(0, 0);
    return content;
  }
  /// Writes the file to the disk and drops a range of it from the page cache; `bytes` = 0 drops up to the end.
  void drop_from_cache(std::int64_t offset, std::int64_t bytes) const {
    const Descriptor file(::open(path("a").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::fdatasync(file.number()), 0);
    ASSERT_EQ(::posix_fadvise(file.number(), offset, bytes, POSIX_FADV_DONTNEED), 0);
  }
  /// Writes into the file; the changes stay in the page cache.
  void overwrite(std::int64_t offset, const std::string& content) const {
    const Descriptor file(::open(path("a").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.number(), content.data(), content.size(), offset), static_cast<ssize_t>(content.size()));
  }
  /// Returns true if files here can be read past the page cache, and the kernel reports which pages are cached.
  bool can_bypass_cache() {
    set_direct_io("auto");
    return PosixStore(path("a"), PosixStore::Access::kRead).is_cold();
  }
  static bool has_bypassed_cache(const PosixStore& store) {
    return !store.description().empty() &&
           store.description().find("past the page cache not tried") == std::string::npos;
  }
  /// Compares `bytes` bytes of `actual` from `at` on with those of `all` from `offset` on.
  static bool is_same(const Bytes& actual, std::int64_t at, const std::string& all, std::int64_t offset,
                      std::int64_t bytes) {
    return std::memcmp(actual.data() + at, all.data() + offset, static_cast<std::size_t>(bytes)) == 0;
  }
  /// Returns a random number from 0 to `bound` - 1.
  std::int64_t random_below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  std::mt19937_64 random_{7};
};

TEST_F(DirectIoTest, ReadsTheCurrentContent) {
  std::string all = make_uncached_file(9 * kMiB + 123);
  const auto bytes = static_cast<std::int64_t>(all.size());
  for (const char* setting : {"always", "auto", "never"}) {
    set_direct_io(setting);
    PosixStore store(path("a"), PosixStore::Access::kRead);
    Bytes actual(all.size());
    for (int round = 0; round < 60; ++round) {
      // Some of the file is cached, some is changed, and most is only on the disk.
      const std::int64_t begin = random_below(bytes);
      if (round % 4 == 0) drop_from_cache(0, 0);
      if (round % 4 == 1) drop_from_cache(begin, 1 + random_below(bytes - begin));
      if (round % 3 == 2) {
        const std::string changes(static_cast<std::size_t>(1 + random_below(std::min(bytes - begin, kMiB))), 'n');
        overwrite(begin, changes);
        all.replace(static_cast<std::size_t>(begin), changes.size(), changes);
      }
      const std::int64_t offset = random_below(bytes - DirectReads::kMinBytes);
      const std::int64_t size = round % 5 == 0 ? bytes - offset : 1 + random_below(bytes - offset);
      const std::int64_t cut = random_below(size + 1);
      // Read two segments that are adjacent in the file, but in reverse order in memory and not aligned to pages.
      store.read({{offset, actual.data() + (size - cut), cut}, {offset + cut, actual.data(), size - cut}});
      ASSERT_TRUE(is_same(actual, size - cut, all, offset, cut)) << setting << ' ' << round;
      ASSERT_TRUE(is_same(actual, 0, all, offset + cut, size - cut)) << setting << ' ' << round;
    }
  }
}

TEST_F(DirectIoTest, BypassesTheCacheAsSet) {
  const std::string all = make_uncached_file(8 * kMiB);
  if (!can_bypass_cache()) GTEST_SKIP() << "the files here cannot be read past the page cache";
  Bytes actual(all.size());
  for (const char* setting : {"always", "never"}) {
    set_direct_io(setting);
    drop_from_cache(0, 0);
    PosixStore store(path("a"), PosixStore::Access::kRead);
    store.read({{0, actual.data(), 8 * kMiB}});
    EXPECT_TRUE(is_same(actual, 0, all, 0, 8 * kMiB));
    EXPECT_EQ(has_bypassed_cache(store), setting == std::string("always"));
    // Bytes that were read past the cache are not in it.
    set_direct_io("auto");
    EXPECT_EQ(PosixStore(path("a"), PosixStore::Access::kRead).is_cold(), setting == std::string("always"));
  }
}

TEST_F(DirectIoTest, CachesBytesThatAreReadAgain) {
  make_uncached_file(16 * kMiB);
  if (!can_bypass_cache()) GTEST_SKIP() << "the files here cannot be read past the page cache";
  PosixStore store(path("a"), PosixStore::Access::kRead);
  Bytes actual(kMiB);
  const auto read_all = [&] {
    for (std::int64_t at = 0; at < 16 * kMiB; at += kMiB) store.read({{at, actual.data(), kMiB}});
  };
  read_all();
  EXPECT_TRUE(has_bypassed_cache(store));
  drop_from_cache(0, 0);
  EXPECT_TRUE(store.is_cold());
  read_all();
  EXPECT_FALSE(store.is_cold());
}

TEST_F(DirectIoTest, SmallRequestsAndCachedBytesAreReadThroughTheCache) {
  const std::string all = make_uncached_file(8 * kMiB);
  set_direct_io("always");
  Bytes actual(all.size());
  PosixStore small(path("a"), PosixStore::Access::kRead);
  for (std::int64_t at = 0; at < 8 * kMiB; at += 100'000)
    small.read({{at, actual.data() + at, std::min<std::int64_t>(100'000, 8 * kMiB - at)}});
  EXPECT_TRUE(is_same(actual, 0, all, 0, 8 * kMiB));
  EXPECT_FALSE(has_bypassed_cache(small));
  PosixStore cached(path("a"), PosixStore::Access::kRead);
  if (cached.is_cold()) GTEST_SKIP() << "the files here do not stay in the page cache";
  std::fill(actual.begin(), actual.end(), std::byte{0});
  cached.read({{0, actual.data(), 8 * kMiB}});
  EXPECT_TRUE(is_same(actual, 0, all, 0, 8 * kMiB));
}

TEST_F(DirectIoTest, TheEndOfTheFileIsAnErrorWithItsOffset) {
  make_uncached_file(2 * kMiB + 77);
  set_direct_io("always");
  PosixStore store(path("a"), PosixStore::Access::kRead);
  Bytes actual(3 * kMiB);
  EXPECT_SAYS(failure([&] { store.read({{5, actual.data(), 3 * kMiB}}); }).first,
              path("a") + " at offset " + std::to_string(2 * kMiB + 77));
  drop_from_cache(0, 0);
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
    set_direct_io(setting);
    PosixStore store(name, PosixStore::Access::kRead);
    EXPECT_FALSE(store.is_cold());
    Bytes actual(content.size());
    store.read({{0, actual.data(), 4 * kMiB + 5}});
    EXPECT_TRUE(is_same(actual, 0, content, 0, 4 * kMiB + 5));
  }
  fs::remove(name);
}

TEST_F(DirectIoTest, UnknownSettingsAreErrors) {
  make_uncached_file(10);
  set_direct_io("sometimes");
  try {
    PosixStore store(path("a"), PosixStore::Access::kRead);
    FAIL() << "no error";
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    EXPECT_SAYS(std::string(error.what()), "PLAIT_DIRECT_IO=sometimes is not known; use auto, never or always");
  }
  set_direct_io("");
  EXPECT_EQ(plait::store::posix::direct_io_setting(), DirectIo::kAutomatic);
}

}  // namespace
