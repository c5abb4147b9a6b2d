#include "base/wait/lock_wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/wait/interruption.hpp"

namespace plait::base {

void wait_for_lock(FunctionRef<bool()> try_lock) {
  constexpr std::chrono::microseconds kMaxInterval{10'000};
  std::chrono::microseconds interval{50};
  InterruptionTimer timer;
  while (!try_lock()) {
    if (timer.is_due()) check_interruption();
    std::this_thread::sleep_for(interval);
    interval = std::min(2 * interval, kMaxInterval);
  }
}

}  // namespace plait::base
