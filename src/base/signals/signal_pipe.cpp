// Signals as records in a pipe.
//
// A signal handler may only call a few functions, so it writes a record into a pipe, which a loop reads. The pipe is
// never closed: a handler that runs on another thread could otherwise write into a file that got the same number.

#include "base/signals/signal_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace plait::base {

namespace {

/// The state that the handler uses. The pipe stays open, because a handler may run on another thread at any time.
std::atomic<int> written_to{-1};
std::atomic<pid_t> watching{0};
int read_from = -1;
std::vector<std::pair<int, struct sigaction>>& before() {
  static auto* const instance = new std::vector<std::pair<int, struct sigaction>>;
  return *instance;
}

void hand_on(int number, siginfo_t* info, void* /*context*/) {
  // A forked child inherits the handler and the pipe, but its signals are not its parent's.
  if (::getpid() != watching.load(std::memory_order_relaxed)) return;
  const int saved = errno;
  const SignalRecord seen{number, info->si_code};
  // A full pipe already contains thousands of records, so one more adds nothing.
  [[maybe_unused]] const ssize_t put = ::write(written_to.load(std::memory_order_relaxed), &seen, sizeof seen);
  errno = saved;
}

[[noreturn]] void fail(const char* what) {
  const int code = errno;
  leave_signals();
  throw_system_error(code, "cannot ", what, ": ", std::strerror(code));
}

void make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("make a pipe for signals");
  read_from = ends[0];
  written_to = ends[1];
  watching = ::getpid();  // stored last: the handler reads this before it uses the pipe
}

/// Discards the records of earlier watches.
void empty_pipe() {
  std::array<SignalRecord, 64> seen{};
  while (::read(read_from, seen.data(), sizeof seen) > 0) {
  }
}

}  // namespace

int watch_signals(std::span<const int> numbers) {
  leave_signals();
  if (watching != ::getpid()) make_pipe();
  empty_pipe();
  before().reserve(numbers.size());
  struct sigaction action{};
  action.sa_sigaction = hand_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : numbers) {
    struct sigaction old{};
    if (::sigaction(number, &action, &old) != 0) fail("handle a signal");
    before().emplace_back(number, old);
  }
  return read_from;
}

void leave_signals() noexcept {
  for (const auto& [number, action] : before()) ::sigaction(number, &action, nullptr);
  before().clear();
}

}  // namespace plait::base
