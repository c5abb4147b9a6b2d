#include "base/wait/interruption.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/errors.hpp"

namespace plait::base {

namespace {

std::atomic<InterruptionCheck> interruption_check{nullptr};

}  // namespace

void set_interruption_check(InterruptionCheck check) noexcept { interruption_check = check; }

bool interrupted() {
  const InterruptionCheck check = interruption_check;
  return check != nullptr && check();
}

void check_interruption() {
  if (interrupted()) throw_system_error(EINTR, "interrupted while it waited");
}

void sleep_for(std::chrono::steady_clock::duration time) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + time;
  for (auto rest = time; rest > Clock::duration::zero(); rest = end - Clock::now()) {
    std::this_thread::sleep_for(std::min<Clock::duration>(rest, kBetweenInterruptions));
    check_interruption();
  }
}

}  // namespace plait::base
