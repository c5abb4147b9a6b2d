#include "distant/disks.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace plait::distant {

Disks::~Disks() {
  tasks_.close();
  for (std::thread& thread : threads_) thread.join();
}

void Disks::run(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (tasks_.all_busy() && threads_.size() < kMaxThreads) {
      try {
        threads_.emplace_back([this] {
          // Signals of the program must be handled by the program's own threads.
          sigset_t all;
          sigfillset(&all);
          pthread_sigmask(SIG_SETMASK, &all, nullptr);
          tasks_.run();
        });
      } catch (const std::system_error&) {
        // The existing threads suffice. If there is none, this thread runs the task.
      }
    }
    if (!threads_.empty()) {
      tasks_.put(std::move(task));
      return;
    }
  }
  task();
}

}  // namespace plait::distant
