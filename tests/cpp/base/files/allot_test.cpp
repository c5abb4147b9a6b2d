// allot() reserves space in files, also if signals interrupt it.
#include "base/files/allot.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace {

using plait::base::allot;

class Allot : public testing::Test {
 protected:
  Allot() : file_(::memfd_create("plait-test", MFD_CLOEXEC)) {}
  ~Allot() override { ::close(file_); }
  std::int64_t size() const {
    struct stat actual{};
    ::fstat(file_, &actual);
    return actual.st_size;
  }
  int file_;
};

TEST_F(Allot, ExtendsTheFile) {
  EXPECT_EQ(allot(file_, 0, 0), 0);
  EXPECT_EQ(size(), 0);
  EXPECT_EQ(allot(file_, 0, 5000), 0);
  EXPECT_EQ(size(), 5000);
  EXPECT_EQ(allot(file_, 3000, (std::int64_t{64} << 20) + 1), 0);
  EXPECT_EQ(size(), 3000 + (std::int64_t{64} << 20) + 1);
}

TEST_F(Allot, ReturnsTheError) { EXPECT_EQ(allot(-1, 0, 100), EBADF); }

TEST_F(Allot, SignalsDoNotEndIt) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &before), 0);
  const itimerval every_200_us{{0, 200}, {0, 200}};
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &every_200_us, nullptr);
  const int code = allot(file_, 0, std::int64_t{96} << 20);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(size(), std::int64_t{96} << 20);
}

}  // namespace
