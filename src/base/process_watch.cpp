// Watches other processes by descriptors (pidfd_open).
//
// Problem: the number of a process is reused after its end, so the number may refer to another process by now.
//
// Idea: a process descriptor always refers to the same process and becomes readable when the process ends. It is opened
// first, and the start time is compared afterwards. Example: process 100 started at tick 5,000 is to be watched. The
// descriptor of 100 is opened, and the status of 100 has the start time 9,000: the watched process has ended, and its
// number was reused.

#include "base/process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/text_reader.hpp"

namespace plait::base {

namespace {

/// Reads field 22 of /proc/PID/stat, which follows the command in parentheses; 0 if it cannot be read.
std::int64_t read_start_time(std::int64_t number) {
  std::ifstream file(text("/proc/", number, "/stat"));
  const std::string status((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t command = status.rfind(')');
  if (command == std::string::npos) return 0;
  TextReader fields(status.substr(command + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t started = 0;
  fields >> started;
  return started;
}

struct Watches {
  std::mutex mutex;
  std::map<ProcessId, std::weak_ptr<const ProcessWatch>> by_process;
};

Watches& watches() {
  static PerProcess<Watches> instance;
  return instance.get();
}

[[maybe_unused]] bool allow_more_descriptors() {
  constexpr std::int64_t kAdditional = 1024;
  const std::int64_t before = allow_descriptors(0);
  return before < std::numeric_limits<std::int64_t>::max() - kAdditional &&
         allow_descriptors(before + kAdditional) > before;
}

std::shared_ptr<const ProcessWatch> open_watch([[maybe_unused]] const ProcessId& process) {
#ifdef SYS_pidfd_open
  const auto open = [&process] {
    return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.number), 0));
  };
  int number = open();
  if (number < 0 && errno == EMFILE && allow_more_descriptors()) number = open();
  // ESRCH: the process has ended. After any other error, for example with an old kernel, nothing is known about the
  // process.
  if (number < 0 && errno != ESRCH) return nullptr;
  Descriptor descriptor = number < 0 ? Descriptor() : Descriptor(number);
  // The start time is read after the descriptor was opened. If it is the expected one, the descriptor refers to the
  // expected process; otherwise that process has ended and its number was reused.
  const std::int64_t started = process.started == 0 ? 0 : read_start_time(process.number);
  const bool ended = number < 0 || (started != 0 && started != process.started);
  return std::make_shared<const ProcessWatch>(std::move(descriptor), ended);
#else
  return nullptr;
#endif
}

}  // namespace

ProcessId this_process() { return {::getpid(), read_start_time(::getpid())}; }

std::shared_ptr<const ProcessWatch> ProcessWatch::find_or_open(const ProcessId& process) {
  const std::scoped_lock lock(watches().mutex);
  auto& by_process = watches().by_process;
  if (const auto found = by_process.find(process); found != by_process.end())
    if (auto watch = found->second.lock()) return watch;
  std::erase_if(by_process, [](const auto& entry) { return entry.second.expired(); });
  auto watch = open_watch(process);
  if (watch) by_process[process] = watch;
  return watch;
}

bool ProcessWatch::ended() const {
  if (ended_) return true;
  pollfd state{descriptor_.number(), POLLIN, 0};  // readable from the end of the process on, reaped or not
  return ::poll(&state, 1, 0) > 0;
}

}  // namespace plait::base
