// Delivers signals as records in a pipe.
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
std::atomic<int> write_end{-1};
std::atomic<pid_t> owner_process{0};
int read_end = -1;
std::vector<std::pair<int, struct sigaction>>& previous_actions() {
  static auto* const instance = new std::vector<std::pair<int, struct sigaction>>;
  return *instance;
}

void write_record(int number, siginfo_t* info, void* /*context*/) {
  // A forked child inherits the handler and the pipe, but its parent must not handle its signals.
  if (::getpid() != owner_process.load(std::memory_order_relaxed)) return;
  const int saved = errno;
  const SignalRecord record{number, info->si_code};
  // A full pipe already contains thousands of records, so one more adds nothing.
  [[maybe_unused]] const ssize_t written = ::write(write_end.load(std::memory_order_relaxed), &record, sizeof record);
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
  read_end = ends[0];
  write_end = ends[1];
  owner_process = ::getpid();  // stored last: the handler reads this before it uses the pipe
}

/// Discards the records of earlier watches.
void empty_pipe() {
  std::array<SignalRecord, 64> records{};
  while (::read(read_end, records.data(), sizeof records) > 0) {
  }
}

}  // namespace

int watch_signals(std::span<const int> numbers) {
  leave_signals();
  if (owner_process != ::getpid()) make_pipe();
  empty_pipe();
  previous_actions().reserve(numbers.size());
  struct sigaction action{};
  action.sa_sigaction = write_record;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : numbers) {
    struct sigaction old{};
    if (::sigaction(number, &action, &old) != 0) fail("handle a signal");
    previous_actions().emplace_back(number, old);
  }
  return read_end;
}

void leave_signals() noexcept {
  for (const auto& [number, action] : previous_actions()) ::sigaction(number, &action, nullptr);
  previous_actions().clear();
}

}  // namespace plait::base
