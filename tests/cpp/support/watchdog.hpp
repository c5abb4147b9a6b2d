// Aborts the test program if an operation waits for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace plait_test {

/// Prints the name of an operation and aborts the program if the operation has not ended within 20 seconds.
class Watchdog {
 public:
  explicit Watchdog(std::string operation)
      : thread_([this, operation = std::move(operation)] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, std::chrono::seconds(20), [this] { return done_; })) return;
          std::fprintf(stderr, "still waiting: %s\n", operation.c_str());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace plait_test
