#include "distant/disks.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace plait::distant {

Disks::~Disks() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Disks::run(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    if (idle_ <= tasks_.size() && threads_.size() < kMostThreads) {
      try {
        threads_.emplace_back([this] { loop(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) {
          lock.unlock();
          task();
          return;
        }
      }
    }
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

bool Disks::busy() const {
  const std::scoped_lock lock(mutex_);
  return !tasks_.empty();
}

void Disks::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace plait::distant
