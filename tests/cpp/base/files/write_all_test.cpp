// write_all() writes all bytes or returns the error.
#include "base/files/write_all.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

namespace {

using plait::base::write_all;

class WriteAll : public testing::Test {
 protected:
  WriteAll() : file_(::memfd_create("plait-test", MFD_CLOEXEC)) {}
  ~WriteAll() override { ::close(file_); }
  int file_;
};

TEST_F(WriteAll, WritesAtItsOffset) {
  const std::vector<std::byte> bytes(100'000, std::byte{7});
  EXPECT_EQ(write_all(file_, bytes, 5000), 0);
  EXPECT_EQ(write_all(file_, {}, 0), 0);
  std::vector<std::byte> actual(bytes.size() + 5001);
  ASSERT_EQ(::pread(file_, actual.data(), actual.size(), 0), static_cast<ssize_t>(bytes.size() + 5000));
  EXPECT_TRUE(
      std::all_of(actual.begin(), actual.begin() + 5000, [](std::byte value) { return value == std::byte{0}; }));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), actual.begin() + 5000));
}

TEST_F(WriteAll, ReturnsTheErrorOfTheSystem) {
  const std::vector<std::byte> bytes(10);
  EXPECT_EQ(write_all(-1, bytes, 0), EBADF);
  EXPECT_EQ(write_all(file_, bytes, -1), EINVAL);
}

TEST_F(WriteAll, ContinuesAfterAPartialWrite) {
  // The first system call writes up to the limit of 1000 bytes, and the next one fails.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<std::byte> bytes(1500);
  const int code = write_all(file_, bytes, 0);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, EFBIG);
  EXPECT_EQ(::lseek(file_, 0, SEEK_END), 1000);
}

}  // namespace
