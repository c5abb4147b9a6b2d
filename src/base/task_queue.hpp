/// Tasks that wait for threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace plait::base {

/// Whoever makes one also makes the threads, which are in run() until it is closed.
class TaskQueue {
 public:
  /// Adds a task, which throws nothing.  Returns false, adding nothing, where the queue is closed.
  bool put(std::function<void()> task);
  /// Runs tasks, one at a time, in their order; after close() those that are left.
  void run();
  void close();
  /// Whether a task waits for a thread.
  bool waiting() const;
  /// Whether one more task would find no thread that waits for it.
  bool all_busy() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;  // threads that wait
  bool closed_ = false;
};

}  // namespace plait::base
