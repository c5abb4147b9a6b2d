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

/// Returns the signals that the pipe reports; waits at most 5 s for the first.
std::vector<SignalRecord> read_signals(int descriptor) {
  pollfd poll_entry{descriptor, POLLIN, 0};
  ::poll(&poll_entry, 1, 5000);
  std::array<SignalRecord, 16> records{};
  const ssize_t bytes = ::read(descriptor, records.data(), sizeof records);
  if (bytes <= 0) return {};
  return {records.begin(), records.begin() + bytes / static_cast<ssize_t>(sizeof(SignalRecord))};
}

bool has_default_handling(int number) {
  struct sigaction actual{};
  ::sigaction(number, nullptr, &actual);
  return actual.sa_handler == SIG_DFL;
}

TEST(SignalPipe, ReportsSignalsOfOtherThreads) {
  const std::array numbers{SIGUSR1, SIGUSR2};
  const int descriptor = watch_signals(numbers);
  std::thread([] { ::pthread_kill(::pthread_self(), SIGUSR1); }).join();
  ::kill(::getpid(), SIGUSR2);
  std::vector<SignalRecord> signals = read_signals(descriptor);
  if (signals.size() == 1) signals.push_back(read_signals(descriptor).at(0));
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_EQ(signals[0].number, SIGUSR1);
  EXPECT_EQ(signals[1].number, SIGUSR2);
  EXPECT_EQ(signals[1].code, SI_USER);
  leave_signals();
  EXPECT_TRUE(has_default_handling(SIGUSR1) && has_default_handling(SIGUSR2));
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
  EXPECT_TRUE(has_default_handling(SIGUSR1));
}

}  // namespace
