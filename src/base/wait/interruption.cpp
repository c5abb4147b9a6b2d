#include "base/wait/interruption.hpp"

#include <atomic>
#include <cerrno>

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

}  // namespace plait::base
