// The folder of a cache: its entries, damaged files, and the removal of entries that were not used for a long time.
#include "store/cache/cache_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "folder.hpp"
#include "plait/error.hpp"

namespace plait::store::cache {
namespace {

namespace fs = std::filesystem;

class CacheFolder : public plait_test::FolderTest {
 protected:
  /// Returns the cache in a folder, which is created if necessary.
  std::shared_ptr<Folder> open_folder(std::int64_t max_bytes = Options::kMinBytes) const {
    return Folder::open({path("cache"), max_bytes});
  }
  /// Returns the files of entries; other files have short names.
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::recursive_directory_iterator(path("cache")))
      if (entry.is_regular_file() && entry.path().filename().string().size() > 4) result.push_back(entry.path());
    return result;
  }
  std::int64_t total_bytes() const {
    std::int64_t bytes = 0;
    for (const fs::path& file : files()) bytes += static_cast<std::int64_t>(fs::file_size(file));
    return bytes;
  }
};

/// Returns `bytes` equal bytes.
std::vector<std::byte> content(std::size_t bytes, int value) { return std::vector(bytes, std::byte(value)); }

/// Returns true if the folder has an entry with this content.
bool has_content(Folder& folder, const std::string& key, const std::vector<std::byte>& expected) {
  std::vector<std::byte> loaded(expected.size());
  return folder.load(entry_name(key), loaded) && loaded == expected;
}

TEST_F(CacheFolder, ReturnsStoredContents) {
  const std::shared_ptr<Folder> folder = open_folder();
  EXPECT_FALSE(folder->contains(entry_name("a")));
  for (const std::size_t bytes : {0, 1, 100, 70'000}) {
    folder->store(entry_name("a"), content(bytes, 7));
    EXPECT_TRUE(folder->contains(entry_name("a")));
    EXPECT_TRUE(has_content(*folder, "a", content(bytes, 7)));
    EXPECT_TRUE(has_content(*open_folder(), "a", content(bytes, 7)));
  }
  EXPECT_FALSE(has_content(*folder, "b", content(70'000, 7)));
  folder->store(entry_name("t"), std::as_bytes(std::span(std::string_view("text"))));
  EXPECT_EQ(folder->load_text(entry_name("t")), "text");
  EXPECT_EQ(folder->load_text(entry_name("u")), std::nullopt);
}

TEST_F(CacheFolder, RemovesDamagedEntries) {
  const std::shared_ptr<Folder> folder = open_folder();
  // Change a byte of each field of the header, and of the content.
  for (const std::size_t position : {0U, 9U, 17U, 21U, 24U, 123U}) {
    folder->store(entry_name("a"), content(100, 7));
    std::fstream(files().at(0), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<long>(position))
        .put('x');
    EXPECT_FALSE(has_content(*folder, "a", content(100, 7))) << position;
    EXPECT_FALSE(folder->contains(entry_name("a"))) << position;
  }
  folder->store(entry_name("a"), content(100, 7));
  folder->store(entry_name("b"), content(100, 8));
  const fs::path a = path("cache/") + entry_name("a").substr(0, 2) + "/" + entry_name("a");
  const fs::path b = path("cache/") + entry_name("b").substr(0, 2) + "/" + entry_name("b");
  fs::copy_file(b, a, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(has_content(*folder, "a", content(100, 8))) << "the file of another entry";
}

TEST_F(CacheFolder, RemovesTheLeastRecentlyUsedEntries) {
  const std::shared_ptr<Folder> folder = open_folder();
  constexpr std::size_t kBytes = 100'000;
  for (int i = 0; i < 30; ++i) {
    folder->store(entry_name(std::to_string(i)), content(kBytes, i));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the resolution of times
    ASSERT_TRUE(has_content(*folder, "0", content(kBytes, 0))) << i;
    EXPECT_LE(total_bytes(), Options::kMinBytes);
  }
  EXPECT_TRUE(has_content(*folder, "29", content(kBytes, 29)));
  EXPECT_FALSE(has_content(*folder, "1", content(kBytes, 1)));
  folder->store(entry_name("large"), content(Options::kMinBytes, 1));
  EXPECT_FALSE(folder->contains(entry_name("large"))) << "more than half of the cache";
}

TEST_F(CacheFolder, MayBeFilledByManyThreads) {
  constexpr int kThreads = 4;
  std::array<int, kThreads> wrong_contents{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const std::shared_ptr<Folder> folder = open_folder();
      for (int i = 0; i < 200; ++i) {
        const std::string entry = entry_name(std::to_string(i % 37));  // threads store the same 37 entries
        std::vector<std::byte> loaded(20'000);
        if (folder->load(entry, loaded))
          wrong_contents[static_cast<std::size_t>(t)] += loaded != content(20'000, i % 37) ? 1 : 0;
        else
          folder->store(entry, content(20'000, i % 37));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_contents, (std::array<int, kThreads>{}));
  EXPECT_LE(total_bytes(), Options::kMinBytes);
}

TEST_F(CacheFolder, MustBeAFolder) {
  std::ofstream(path("cache")) << "x";
  EXPECT_THROW((void)open_folder(), Error);
}

TEST_F(CacheFolder, IsMadeAgainIfItWasRemoved) {
  open_folder()->store(entry_name("a"), content(10, 1));
  fs::remove_all(path("cache"));
  open_folder()->store(entry_name("a"), content(10, 2));
  EXPECT_TRUE(has_content(*open_folder(), "a", content(10, 2)));
}

}  // namespace
}  // namespace plait::store::cache
