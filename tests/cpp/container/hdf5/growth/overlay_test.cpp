// An overlay: changes of a file that have not been written to the file yet.
#include "container/hdf5/growth/overlay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace plait;
using container::hdf5::FilePatch;
using container::hdf5::Overlay;

/// A file of 10,000 bytes; byte i has the value i % 251.
class OverlayCase : public testing::Test {
 protected:
  OverlayCase() : file_(std::tmpfile()) {
    for (std::size_t i = 0; i < 10'000; ++i) content_.push_back(static_cast<std::byte>(i % 251));
    EXPECT_EQ(::pwrite(descriptor(), content_.data(), content_.size(), 0), 10'000);
  }
  ~OverlayCase() override { std::fclose(file_); }
  OverlayCase(const OverlayCase&) = delete;
  OverlayCase& operator=(const OverlayCase&) = delete;

  int descriptor() const { return ::fileno(file_); }
  const std::vector<std::byte>& content() const { return content_; }

 private:
  std::FILE* file_;
  std::vector<std::byte> content_;
};

TEST_F(OverlayCase, ReadsWrittenBytesWithoutChangingTheFile) {
  Overlay overlay(descriptor(), 10'000);
  std::vector<std::byte> expected = content();
  expected.resize(12'000);
  for (const std::size_t offset : {4090U, 0U, 8191U, 9995U, 11'000U}) {
    const std::vector<std::byte> bytes(10, std::byte{0xee});
    overlay.write(static_cast<std::int64_t>(offset), bytes);
    std::ranges::copy(bytes, expected.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::vector<std::byte> actual(12'000);
  overlay.read(0, actual);
  EXPECT_EQ(actual, expected);
  std::vector<std::byte> file(10'000);
  EXPECT_EQ(::pread(descriptor(), file.data(), file.size(), 0), 10'000);
  EXPECT_EQ(file, content());
}

TEST_F(OverlayCase, ListsTheBytesThatDiffer) {
  Overlay overlay(descriptor(), 10'000);
  overlay.set_end(10'002);
  std::vector<std::byte> mostly_equal(content().begin() + 100, content().begin() + 110);
  mostly_equal[4] = std::byte{0xee};
  overlay.write(100, mostly_equal);
  overlay.write(9'999, std::vector<std::byte>(3, std::byte{7}));
  const FilePatch changes = overlay.changes();
  EXPECT_EQ(changes.old_size, 10'000);
  EXPECT_EQ(changes.new_size, 10'002);
  ASSERT_EQ(changes.bytes.size(), 2U);
  EXPECT_EQ(changes.bytes[0].offset, 104);
  EXPECT_EQ(changes.bytes[0].before, std::vector<std::byte>{content()[104]});
  EXPECT_EQ(changes.bytes[0].after, std::vector<std::byte>{std::byte{0xee}});
  EXPECT_EQ(changes.bytes[1].offset, 9'999);
  EXPECT_EQ(changes.bytes[1].after, std::vector<std::byte>(3, std::byte{7}));
}

/// direct_next_allocation() gives the offset of the next allocation of elements with this size.
TEST_F(OverlayCase, DirectsOneAllocationOfElements) {
  Overlay overlay(descriptor(), 10'400);
  overlay.set_end(9'000);
  overlay.direct_next_allocation(10'032, 300);
  EXPECT_EQ(overlay.allocate(300, /*is_elements=*/false), 10'400);
  EXPECT_EQ(overlay.allocate(200, /*is_elements=*/true), 10'704);  // another size, at a multiple of 8
  EXPECT_FALSE(overlay.is_in_directed_space(10'032));
  EXPECT_EQ(overlay.allocate(300, /*is_elements=*/true), 10'032);
  EXPECT_TRUE(overlay.is_in_directed_space(10'032));
  EXPECT_EQ(overlay.allocate(300, /*is_elements=*/true), 10'904);
  EXPECT_EQ(overlay.end(), 11'204);
  overlay.set_end(8);  // as the HDF5 library does when it opens the file again
  EXPECT_EQ(overlay.changed_size(), 11'204);
}

}  // namespace
