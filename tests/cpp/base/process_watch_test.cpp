// Watches for the end of processes, also if process numbers are reused.
#include "base/process_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

namespace {

using plait::base::ProcessId;
using plait::base::ProcessWatch;

/// Skips the test if the kernel has no process descriptors (pidfd).
class WatchedProcess : public testing::Test {
 protected:
  void SetUp() override {
    if (!ProcessWatch::find_or_open(plait::base::this_process())) GTEST_SKIP();
  }
};

TEST_F(WatchedProcess, IsReportedWhenItEnds) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::pause();
    ::_exit(0);
  }
  const auto watch = ProcessWatch::find_or_open({child, 0});
  EXPECT_FALSE(watch->ended());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(watch->ended());
  EXPECT_TRUE(ProcessWatch::find_or_open({child, 0})->ended());
}

TEST_F(WatchedProcess, WithAnotherStartTimeIsAnotherProcess) {
  const ProcessId self = plait::base::this_process();
  ASSERT_GT(self.started, 0);
  const auto watch = ProcessWatch::find_or_open(self);
  EXPECT_FALSE(watch->ended());
  // An earlier process that had the same number as this one.
  const auto earlier_watch = ProcessWatch::find_or_open({self.number, self.started - 1});
  EXPECT_TRUE(earlier_watch->ended());
  EXPECT_EQ(ProcessWatch::find_or_open(self), watch);
  EXPECT_NE(earlier_watch, watch);
}

TEST_F(WatchedProcess, HasEndedIfItDoesNotExist) { EXPECT_TRUE(ProcessWatch::find_or_open({1 << 30, 1})->ended()); }

}  // namespace
