// Objects in a zip file: how often its directory and its headers are read.
#include "store/zip/zip_objects.hpp"
#include "store/zip/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "object_case.hpp"
#include "plait/error.hpp"
#include "store/zip/directory.hpp"

namespace plait::store::zip {
namespace {

namespace fs = std::filesystem;
using object_case::read_object;

/// CRC-32 of "abc".
constexpr std::uint32_t kCheckSum = 0x352441c2;

/// A zip file whose only entry `a` has the content "abc".
class ZipFile : public plait_test::FolderTest {
 protected:
  ZipFile() {
    Entry entry;
    entry.name = "a";
    entry.check_sum = kCheckSum;
    entry.compressed_bytes = entry.content_bytes = 3;
    const std::int64_t begin = local_header_bytes(entry);
    bytes_ = encode_local_header(entry, begin);
    for (const char c : std::string("abc")) bytes_.push_back(static_cast<std::byte>(c));
    directory_offset_ = bytes_.size();
    const std::vector<std::byte> end = encode_directory({entry}, begin + 3);
    bytes_.insert(bytes_.end(), end.begin(), end.end());
    write(bytes_);
    set_file_age(std::chrono::minutes(1));
  }
  void write(std::span<const std::byte> bytes) const {
    std::ofstream(path("a.zip"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  /// Sets the time of the last change to `age` before the beginning of the test.
  void set_file_age(std::chrono::seconds age) const { fs::last_write_time(path("a.zip"), written_ - age); }
  std::shared_ptr<ObjectStore> open_archive() const {
    return open_objects(path("a.zip"), std::make_shared<Archive>(path("a.zip")));
  }
  /// Overwrites a part of the file with zeros.
  void overwrite_with_zeros(std::size_t begin, std::size_t end) {
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), bytes_.begin() + static_cast<std::ptrdiff_t>(end),
              std::byte{});
    write(bytes_);
  }

  fs::file_time_type written_ = fs::file_time_type::clock::now();
  std::vector<std::byte> bytes_;
  std::size_t directory_offset_ = 0;
};

TEST_F(ZipFile, ItsDirectoryIsReadOnceUntilTheFileChanges) {
  EXPECT_EQ(read_object(*open_archive(), "a"), "abc");
  overwrite_with_zeros(directory_offset_, bytes_.size());
  set_file_age(std::chrono::minutes(1));  // as if nothing had changed
  EXPECT_EQ(read_object(*open_archive(), "a"), "abc");
  set_file_age(std::chrono::seconds(30));
  EXPECT_THROW((void)open_archive(), Error);
}

/// A change within the resolution of file times would not be visible in them.
TEST_F(ZipFile, ItsDirectoryIsReadAgainIfTheFileHasJustChanged) {
  set_file_age(std::chrono::seconds(0));
  EXPECT_EQ(read_object(*open_archive(), "a"), "abc");
  overwrite_with_zeros(directory_offset_, bytes_.size());
  set_file_age(std::chrono::seconds(0));
  EXPECT_THROW((void)open_archive(), Error);
}

TEST_F(ZipFile, TheHeaderOfAnEntryIsReadOnce) {
  const std::shared_ptr<ObjectStore> objects = open_archive();
  EXPECT_EQ(read_object(*objects, "a"), "abc");
  overwrite_with_zeros(0, 30);  // the local header of the entry, without its name
  EXPECT_EQ(read_object(*objects, "a"), "abc");
  EXPECT_THROW((void)read_object(*open_archive(), "a"), Error);
}

}  // namespace
}  // namespace plait::store::zip
