/// Threads for accesses that wait for a disk.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/task_queue.hpp"

namespace plait::distant {

/// A pool of threads.  If all threads are busy when a task arrives, another one is started, up to kMaxThreads.  Threads
/// run until the pool is destroyed, and block all signals.
class Disks {
 public:
  /// Maximum number of threads, which is also the maximum number of concurrent disk accesses.
  static constexpr std::size_t kMaxThreads = 8;

  Disks() = default;
  /// Finishes all tasks.
  ~Disks();
  Disks(const Disks&) = delete;
  Disks& operator=(const Disks&) = delete;

  /// Gives a task, which must not throw, to a thread; runs it on the caller's thread if no thread can be started.
  void run(std::function<void()> task);
  /// Returns true if a new task would have to wait for a thread.
  bool busy() const { return tasks_.waiting(); }

 private:
  base::TaskQueue tasks_;
  std::mutex mutex_;  // protects the threads
  std::vector<std::thread> threads_;
};

}  // namespace plait::distant
