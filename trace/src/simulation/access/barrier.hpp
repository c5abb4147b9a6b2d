/// Waiting of all ranks of a simulated access for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/access/task.hpp"

namespace plait::simulation {

/// A barrier of all ranks. Agreements use it, and so does the exchange of a window that WindowTally simulates as a
/// whole.
class Barrier {
 public:
  Barrier(Resumer& resumer, std::int64_t ranks, Time takes) : resumer_(resumer), ranks_(ranks), takes_(takes) {}
  /// Suspends the rank until `takes` after the last rank has arrived.
  auto arrive() {
    struct ArrivalAwaiter {
      Barrier& barrier;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) const { barrier.add(handle); }
      void await_resume() const noexcept {}
    };
    return ArrivalAwaiter{*this};
  }

 private:
  void add(std::coroutine_handle<> handle) {
    arrived_.push_back(handle);
    if (static_cast<std::int64_t>(arrived_.size()) < ranks_) return;
    for (const std::coroutine_handle<> waiter : arrived_) resumer_.at(resumer_.now() + takes_, waiter);
    arrived_.clear();
  }

  Resumer& resumer_;
  std::int64_t ranks_;
  Time takes_;
  std::vector<std::coroutine_handle<>> arrived_;
};

}  // namespace plait::simulation
