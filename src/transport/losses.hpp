/// What those who wait for all processes know of processes that will not come.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace plait::transport {

/// Of one communicator.  Nothing is known before its active messages have begun (active.hpp), whose handler tells here
/// of processes that ended without taking leave.
/// threads  Any number at once.
class Losses {
 public:
  /// Active messages begin; `watch` makes them notice the end of processes that they do not exchange messages with.
  void begin(std::function<void()> watch);
  void end();

  void record(int worker);
  /// errors  kSystem: a process has been lost.  Calls of MPI that need it would not return, or crash.
  void check() const;
  /// The same for one that has waited for a while, and may still be let go by what the lost process had sent.
  void check_waiting();

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<int> lost_{-1};
  std::atomic<Clock::rep> since_{0};
  std::mutex mutex_;             // of what follows
  std::function<void()> watch_;  // nothing where it has been called
};

}  // namespace plait::transport
