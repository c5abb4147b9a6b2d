/// Records that a process has ended unexpectedly, so that others do not wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace plait::transport {

/// The losses of one communicator.  The active messages of the communicator (active_messages.hpp) notice and record
/// them, so no loss is known before these have begun.
/// threads  Any number at once.
class Losses {
 public:
  /// Called when active messages begin.  `watch`, which the first check_waiting() calls, makes them also watch
  /// processes with which they exchange no messages.
  void begin(std::function<void()> watch);
  /// Called when active messages end.
  void end();

  void record(int worker);
  /// Checks that no process has been lost: collective calls of MPI would not return, or would crash.
  /// errors  kSystem: a process has been lost.
  void check() const;
  /// Like check(), for a thread that has waited for a while.  It fails only some seconds after the loss, because data
  /// that the lost process has sent may still end the wait.
  void check_waiting();

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<int> lost_{-1};         // the first lost worker; -1: none
  std::atomic<Clock::rep> since_{0};  // time of that loss
  std::mutex mutex_;                  // protects `watch_`
  std::function<void()> watch_;       // empty after it was called
};

}  // namespace plait::transport
