// The files of a cache: what is damaged, replaced, removed or cannot be written.
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
  std::shared_ptr<Folder> opened(std::int64_t max_bytes = Options::kMinBytes) const {
    return Folder::open({path("cache"), max_bytes});
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& one : fs::recursive_directory_iterator(path("cache")))
      if (one.is_regular_file() && one.path().filename().string().size() > 4) found.push_back(one.path());
    return found;
  }
  std::int64_t total() const {
    std::int64_t bytes = 0;
    for (const fs::path& file : files()) bytes += static_cast<std::int64_t>(fs::file_size(file));
    return bytes;
  }
};

std::vector<std::byte> content(std::size_t bytes, int value) { return std::vector(bytes, std::byte(value)); }

bool has(Folder& folder, const std::string& key, const std::vector<std::byte>& expected) {
  std::vector<std::byte> found(expected.size());
  return folder.load(entry_name(key), found) && found == expected;
}

TEST_F(CacheFolder, HasWhatWasStored) {
  const std::shared_ptr<Folder> folder = opened();
  EXPECT_FALSE(folder->contains(entry_name("a")));
  for (const std::size_t bytes : {0, 1, 100, 70'000}) {
    folder->store(entry_name("a"), content(bytes, 7));
    EXPECT_TRUE(folder->contains(entry_name("a")));
    EXPECT_TRUE(has(*folder, "a", content(bytes, 7)));
    EXPECT_TRUE(has(*opened(), "a", content(bytes, 7)));
  }
  EXPECT_FALSE(has(*folder, "b", content(70'000, 7)));
  folder->store(entry_name("t"), std::as_bytes(std::span(std::string_view("text"))));
  EXPECT_EQ(folder->load_text(entry_name("t")), "text");
  EXPECT_EQ(folder->load_text(entry_name("u")), std::nullopt);
}

TEST_F(CacheFolder, RemovesWhatIsDamaged) {
  const std::shared_ptr<Folder> folder = opened();
  for (const std::size_t at : {0U, 9U, 17U, 21U, 24U, 123U}) {
    folder->store(entry_name("a"), content(100, 7));
    std::fstream(files().at(0), std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<long>(at)).put('x');
    EXPECT_FALSE(has(*folder, "a", content(100, 7))) << at;
    EXPECT_FALSE(folder->contains(entry_name("a"))) << at;
  }
  folder->store(entry_name("a"), content(100, 7));
  folder->store(entry_name("b"), content(100, 8));
  const fs::path a = path("cache/") + entry_name("a").substr(0, 2) + "/" + entry_name("a");
  const fs::path b = path("cache/") + entry_name("b").substr(0, 2) + "/" + entry_name("b");
  fs::copy_file(b, a, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(has(*folder, "a", content(100, 8))) << "the file of another entry";
}

TEST_F(CacheFolder, RemovesWhatWasNotUsedForTheLongestTime) {
  const std::shared_ptr<Folder> folder = opened();
  constexpr std::size_t kBytes = 100'000;
  for (int i = 0; i < 30; ++i) {
    folder->store(entry_name(std::to_string(i)), content(kBytes, i));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the resolution of times
    ASSERT_TRUE(has(*folder, "0", content(kBytes, 0))) << i;
    EXPECT_LE(total(), Options::kMinBytes);
  }
  EXPECT_TRUE(has(*folder, "29", content(kBytes, 29)));
  EXPECT_FALSE(has(*folder, "1", content(kBytes, 1)));
  folder->store(entry_name("large"), content(Options::kMinBytes, 1));
  EXPECT_FALSE(folder->contains(entry_name("large"))) << "more than half of the cache";
}

TEST_F(CacheFolder, ManyThreadsFillIt) {
  constexpr int kThreads = 4;
  std::array<int, kThreads> wrong{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const std::shared_ptr<Folder> folder = opened();
      for (int i = 0; i < 200; ++i) {
        const std::string entry = entry_name(std::to_string(i % 37));
        std::vector<std::byte> found(20'000);
        if (folder->load(entry, found))
          wrong[static_cast<std::size_t>(t)] += found != content(20'000, i % 37) ? 1 : 0;
        else
          folder->store(entry, content(20'000, i % 37));
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, (std::array<int, kThreads>{}));
  EXPECT_LE(total(), Options::kMinBytes);
}

TEST_F(CacheFolder, MustBeAFolder) {
  std::ofstream(path("cache")) << "x";
  EXPECT_THROW((void)opened(), Error);
}

TEST_F(CacheFolder, IsMadeAgainIfItWasRemoved) {
  opened()->store(entry_name("a"), content(10, 1));
  fs::remove_all(path("cache"));
  opened()->store(entry_name("a"), content(10, 2));
  EXPECT_TRUE(has(*opened(), "a", content(10, 2)));
}

}  // namespace
}  // namespace plait::store::cache
