/// A queue of tasks for a group of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace plait::base {

/// The owner of a queue also starts its threads, which call run() until the queue is closed.
class TaskQueue {
 public:
  /// Adds a task, which must not throw. Returns false and adds nothing if the queue is closed.
  bool put(std::function<void()> task);
  /// Runs tasks one after another, in the order in which they were added. Returns after close(), when the queue is
  /// empty.
  void run();
  /// Rejects further tasks; those in the queue still run.
  void close();
  /// True if a task waits for a thread.
  bool waiting() const;
  /// True if no thread is free for one more task.
  bool all_busy() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;  // number of threads that wait
  bool closed_ = false;
};

}  // namespace plait::base
