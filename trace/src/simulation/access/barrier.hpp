/// A barrier at which all ranks of a simulated access wait for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/access/task.hpp"

namespace plait::simulation {

/// A barrier of all ranks. Ranks use it to agree on success before and after an access, and to begin an exchange
/// together if WindowTally simulates that exchange as a whole.
class Barrier {
 public:
  Barrier(Resumer& resumer, std::int64_t ranks, Time duration)
      : resumer_(resumer), ranks_(ranks), duration_(duration) {}
  /// Suspends the rank until `duration` after the last rank has arrived.
  auto arrive() {
    struct ArrivalAwaiter {
      Barrier& barrier;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> handle) const { barrier.add_arrival(handle); }
      void await_resume() const noexcept {}
    };
    return ArrivalAwaiter{*this};
  }

 private:
  void add_arrival(std::coroutine_handle<> handle) {
    arrived_.push_back(handle);
    if (static_cast<std::int64_t>(arrived_.size()) < ranks_) return;
    for (const std::coroutine_handle<> waiter : arrived_) resumer_.resume_at(resumer_.now() + duration_, waiter);
    arrived_.clear();
  }

  Resumer& resumer_;
  std::int64_t ranks_;
  Time duration_;
  std::vector<std::coroutine_handle<>> arrived_;
};

}  // namespace plait::simulation
