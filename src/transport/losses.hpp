/// Processes that have ended, for those that wait for all processes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace plait::transport {

/// The losses of one communicator.  Nothing is known before its active messages have begun (active.hpp); their handler
/// records processes that ended without notice.
/// threads  Any number at once.
class Losses {
 public:
  /// Begins active messages; `watch` makes them detect the end of processes with which they do not exchange messages.
  void begin(std::function<void()> watch);
  void end();

  void record(int worker);
  /// errors  kSystem: a process has been lost.  Calls of MPI that need it would not return, or crash.
  void check() const;
  /// Like check(), but for a thread that has waited for a while: data that the lost process has sent may still end the
  /// wait.
  void check_waiting();

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<int> lost_{-1};
  std::atomic<Clock::rep> since_{0};
  std::mutex mutex_;             // protects `watch_`
  std::function<void()> watch_;  // empty after it was called
};

}  // namespace plait::transport
