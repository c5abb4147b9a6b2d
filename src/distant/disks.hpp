/// Threads that wait for disks.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/task_queue.hpp"

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
  bool busy() const { return tasks_.waiting(); }

 private:
  base::TaskQueue tasks_;
  std::mutex mutex_;  // of the threads
  std::vector<std::thread> threads_;
};

}  // namespace plait::distant
