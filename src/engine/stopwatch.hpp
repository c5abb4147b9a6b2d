/// Adds the time that passes to one of the sums of Times.
#pragma once

#include <chrono>

namespace plait::engine {

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

}  // namespace plait::engine
