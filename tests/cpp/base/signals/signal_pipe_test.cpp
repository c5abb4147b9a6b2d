// Signals of any thread are reported through the pipe; leave_signals() restores their former handling.
#include "base/signals/signal_pipe.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include "plait/error.hpp"

namespace {

using plait::base::leave_signals;
using plait::base::SignalRecord;
using plait::base::watch_signals;

std::vector<SignalRecord> read_signals(int descriptor) {
  pollfd poll_entry{descriptor, POLLIN, 0};
  ::poll(&poll_entry, 1, 5000);
  std::array<SignalRecord, 16> seen{};
  const ssize_t bytes = ::read(descriptor, seen.data(), sizeof seen);
  if (bytes <= 0) return {};
  return {seen.begin(), seen.begin() + bytes / static_cast<ssize_t>(sizeof(SignalRecord))};
}

bool is_default(int number) {
  struct sigaction actual{};
  ::sigaction(number, nullptr, &actual);
  return actual.sa_handler == SIG_DFL;
}

TEST(SignalPipe, ReportsSignalsOfOtherThreads) {
  const std::array numbers{SIGUSR1, SIGUSR2};
  const int descriptor = watch_signals(numbers);
  std::thread([] { ::pthread_kill(::pthread_self(), SIGUSR1); }).join();
  ::kill(::getpid(), SIGUSR2);
  std::vector<SignalRecord> seen = read_signals(descriptor);
  if (seen.size() == 1) seen.push_back(read_signals(descriptor).at(0));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].number, SIGUSR1);
  EXPECT_EQ(seen[1].number, SIGUSR2);
  EXPECT_EQ(seen[1].code, SI_USER);
  leave_signals();
  EXPECT_TRUE(is_default(SIGUSR1) && is_default(SIGUSR2));
}

TEST(SignalPipe, BeginsEmpty) {
  const std::array numbers{SIGUSR1};
  watch_signals(numbers);
  ::raise(SIGUSR1);
  const int descriptor = watch_signals(numbers);
  ::raise(SIGUSR1);
  EXPECT_EQ(read_signals(descriptor).size(), 1U);
  leave_signals();
}

TEST(SignalPipe, SignalsOfForkedChildrenAreNotReported) {
  const std::array numbers{SIGUSR1};
  const int descriptor = watch_signals(numbers);
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGUSR1);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  pollfd poll_entry{descriptor, POLLIN, 0};
  EXPECT_EQ(::poll(&poll_entry, 1, 0), 0);
  leave_signals();
}

TEST(SignalPipe, ASignalThatCannotBeHandledIsAnError) {
  const std::array numbers{SIGUSR1, SIGKILL};
  EXPECT_THROW(watch_signals(numbers), plait::Error);
  EXPECT_TRUE(is_default(SIGUSR1));
}

}  // namespace
