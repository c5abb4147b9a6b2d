// Direct accesses to a distant file of another process fail if its owner closes the file during the access.
#include "distant/local_file.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "distant_case.hpp"

namespace {

using plait::DistantMode;
using plait::distant::LocalFile;
using plait_test::Bytes;

constexpr std::size_t kLong = std::size_t{256} << 20;  // an access of so many bytes takes much longer than 2 ms
// A word in shared memory has the value kNumber while the owner has the file open.
constexpr std::int64_t kNumber = 7;
std::atomic<std::int64_t> mark;

/// 2 ms after close_soon(), a signal handler clears the mark, as the owner does when it closes the file. The signal
/// interrupts the access between two of its system calls.
class ClosedMeanwhile : public plait_test::FolderTest {
 protected:
  ClosedMeanwhile() : before_(std::signal(SIGALRM, [](int) { mark = 0; })) { mark = kNumber; }
  ~ClosedMeanwhile() override { std::signal(SIGALRM, before_); }

  static void close_soon() {
    const itimerval soon{{}, {0, 2000}};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &soon, nullptr), 0);
  }
  template <typename Call>
  static void expect_no_file(Call&& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const plait::Error& error) {
      EXPECT_EQ(error.system_code(), EBADF) << error.what();
    }
    EXPECT_EQ(mark, 0);
  }

  const LocalFile own_{path("file"), DistantMode::kWrite, 1, true};
  const LocalFile found_{own_.location(), 1, {&mark, kNumber}};

 private:
  void (*before_)(int);
};

TEST_F(ClosedMeanwhile, AReadFails) {
  own_.resize(kLong);
  Bytes into(kLong, std::byte{1});
  close_soon();
  expect_no_file([&] { found_.read(0, into); });
  EXPECT_EQ(into.back(), std::byte{1});
}

TEST_F(ClosedMeanwhile, AWriteStops) {
  const Bytes from(kLong, std::byte{1});
  close_soon();
  expect_no_file([&] { found_.write(0, from); });
  EXPECT_LT(own_.size(), static_cast<std::int64_t>(kLong));
}

}  // namespace
