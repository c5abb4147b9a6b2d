// Gets keys from the program that `credential_process` in an AWS profile names.
// https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html
//
// The program gets its own process group, because a program that takes too long is killed with its children. Its
// standard input is empty, because a rank's standard input is not the user's terminal.

#include "store/objects/s3/credentials/credential_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::s3 {

namespace {

using Clock = std::chrono::steady_clock;
using base::text;

constexpr std::chrono::seconds kMaxSeconds{60};
constexpr std::chrono::milliseconds kWaitInterval{10};
constexpr int kPollMilliseconds = 50;
constexpr std::size_t kMaxOutput = std::size_t{1} << 20;  // bytes

struct Pipe {
  base::Descriptor read;
  base::Descriptor write;
};

Pipe make_pipe(const std::string& source) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    base::throw_system_error(errno, source, ": there is no descriptor for a pipe left");
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

/// Starts a command in a shell, with its standard output to the descriptor `output`, and returns its process.
::pid_t start(const std::string& command, int output, const std::string& source) {
  ::posix_spawn_file_actions_t actions;
  ::posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
  // Libraries of this process may have opened descriptors without O_CLOEXEC.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
#endif
  ::sigset_t no_signals;
  ::sigset_t default_signals;  // Python ignores SIGPIPE, and a child would inherit that
  sigemptyset(&no_signals);
  sigemptyset(&default_signals);
  sigaddset(&default_signals, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &no_signals);
  ::posix_spawnattr_setsigdefault(&attributes, &default_signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh";
  std::string option = "-c";
  std::string line = command;
  const std::array<char*, 4> arguments{shell.data(), option.data(), line.data(), nullptr};
  ::pid_t process = 0;
  const int code = ::posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) base::throw_system_error(code, source, ": the shell cannot be started: ", std::strerror(code));
  return process;
}

/// A shell that start() has started. The destructor kills it and its children unless it has ended.
class Shell {
 public:
  explicit Shell(::pid_t process) : process_(process) {}
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    if (has_ended()) return;
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);  // the shell may have left its group
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  bool has_ended() {
    if (ended_) return true;
    const ::pid_t result = ::waitpid(process_, &status_, WNOHANG);
    ended_ = result == process_ || (result < 0 && errno != EINTR);
    return ended_;
  }
  /// Waits until the shell has ended. Returns false if it still runs at the time `end`.
  bool wait(Clock::time_point end) {
    while (!has_ended()) {
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(kWaitInterval);
    }
    return true;
  }
  /// Returns the status of waitpid(); 0 if this process ignores SIGCHLD, because the system then discards the status.
  int status() const { return status_; }

 private:
  ::pid_t process_;
  int status_ = 0;
  bool ended_ = false;
};

/// Reads until the end of the pipe, or until the shell has ended and the pipe is empty: a child in the background may
/// hold it open. Returns false if that takes longer than until `end` or the output is too long.
bool read_all(int pipe, Shell& shell, Clock::time_point end, std::string& output) {
  while (output.size() <= kMaxOutput && Clock::now() < end) {
    const bool ended = shell.has_ended();
    ::pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, ended ? 0 : kPollMilliseconds);
    if (ready == 0 && ended) return true;
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return false;
    std::array<char, 4096> buffer{};
    const ::ssize_t bytes = ::read(pipe, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return bytes == 0;
    output.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  return false;
}

}  // namespace

Credentials run_credential_process(const std::string& command, const std::string& profile) {
  const std::string source = text("cannot get keys from the credential_process of the profile ", profile);
  Pipe pipe = make_pipe(source);
  const Clock::time_point end = Clock::now() + kMaxSeconds;
  Shell shell(start(command, pipe.write.number(), source));
  pipe.write.close();
  std::string output;
  if (!read_all(pipe.read.number(), shell, end, output) || !shell.wait(end))
    base::throw_system_error(ETIMEDOUT, source, ": it has not printed keys and ended within ", kMaxSeconds.count(),
                             " seconds; run the command in a shell to see what it waits for");
  const int status = shell.status();
  if (status != 0)
    base::throw_system_error(
        EACCES, source, ": it has ended with ",
        WIFSIGNALED(status) ? text("the signal ", WTERMSIG(status)) : text("the status ", WEXITSTATUS(status)),
        "; run the command in a shell and correct it");
  return parse_credentials(output, {.session_token = "SessionToken", .has_version = true}, source);
}

}  // namespace plait::store::s3
