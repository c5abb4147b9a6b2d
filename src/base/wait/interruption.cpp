#include "base/wait/interruption.hpp"

#include <atomic>
#include <cerrno>

#include "plait/error.hpp"

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
  if (interrupted()) throw Error(ErrorKind::kSystem, "interrupted while it waited", EINTR);
}

}  // namespace plait::base
