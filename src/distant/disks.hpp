/// Threads that wait for disks.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/task_queue.hpp"

namespace plait::distant {

/// A pool of threads.  A thread is started when a task finds all others busy, up to a limit, and stays until the end.
/// All signals are blocked in them.
class Disks {
 public:
  /// Maximum number of threads, and so of requests to a disk at a time.
  static constexpr std::size_t kMaxThreads = 8;

  Disks() = default;
  /// Finishes all tasks.
  ~Disks();
  Disks(const Disks&) = delete;
  Disks& operator=(const Disks&) = delete;

  /// Runs a task, which must not throw; on the caller's thread if no thread can be started.
  void run(std::function<void()> task);
  /// Returns true if a task would have to wait for others.
  bool busy() const { return tasks_.waiting(); }

 private:
  base::TaskQueue tasks_;
  std::mutex mutex_;  // protects the threads
  std::vector<std::thread> threads_;
};

}  // namespace plait::distant
