/// Threads that wait for disks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plait::distant {

/// Threads come with the tasks, up to a limit, and stay.  All signals are blocked in them.
class Disks {
 public:
  /// As many requests as a disk is given at a time.
  static constexpr std::size_t kMostThreads = 8;

  Disks() = default;
  /// Finishes what was given.
  ~Disks();
  Disks(const Disks&) = delete;
  Disks& operator=(const Disks&) = delete;

  /// Runs a task, which throws nothing; on the caller's thread where no other can be had.
  void run(std::function<void()> task);
  /// Whether a task would have to wait for others.
  bool busy() const;

 private:
  void loop();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace plait::distant
