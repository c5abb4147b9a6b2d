#include "base/task_queue.hpp"

#include <utility>

namespace plait::base {

bool TaskQueue::put(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void TaskQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    // The task is destroyed before the mutex is locked again, because the destructors of its captures may take long or
    // lock other mutexes.
    {
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

void TaskQueue::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool TaskQueue::waiting() const {
  const std::scoped_lock lock(mutex_);
  return !tasks_.empty();
}

bool TaskQueue::all_busy() const {
  const std::scoped_lock lock(mutex_);
  return idle_ <= tasks_.size();
}

}  // namespace plait::base
