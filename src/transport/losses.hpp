/// Records processes that have ended, so that others do not wait for them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace plait::transport {

/// The losses of one communicator.  Losses are recorded by its active messages (active_messages.hpp), so none is known
/// before these have begun.
/// threads  Any number at once.
class Losses {
 public:
  /// Called when active messages begin.  `watch` makes them also watch processes with which they exchange no messages;
  /// it is called by the first check_waiting().
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

  std::atomic<int> lost_{-1};
  std::atomic<Clock::rep> since_{0};
  std::mutex mutex_;             // protects `watch_`
  std::function<void()> watch_;  // empty after it was called
};

}  // namespace plait::transport
