/// Measures the time that a worker spends in each kind of work.
#pragma once

#include <chrono>
#include <cstdint>

namespace plait::collective {

/// Seconds that one worker spent, for reports to users and benchmarks.
struct Times {
  double io = 0;      ///< calls of the store
  double copy = 0;    ///< copying, packing and unpacking
  double wait = 0;    ///< waiting for other workers and for messages
  double total = 0;   ///< the whole access on this worker
  double common = 0;  ///< time of the whole access, the same on all workers
};

/// Measures the nanoseconds since its construction.
class ElapsedTime {
 public:
  std::int64_t nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Adds the seconds of its lifetime to a sum, such as a member of Times.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& sum_;
  Clock::time_point start_;
};

}  // namespace plait::collective
