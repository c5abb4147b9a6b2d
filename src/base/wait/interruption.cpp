#include "base/wait/interruption.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/errors.hpp"

namespace plait::base {

namespace {

std::atomic<InterruptionCheck> interruption_check{nullptr};
thread_local const InterruptionScope* current_scope = nullptr;
thread_local int uninterrupted_scopes = 0;

}  // namespace

void set_interruption_check(InterruptionCheck check) noexcept { interruption_check = check; }

bool can_be_interrupted() noexcept { return interruption_check.load() != nullptr; }

bool interrupted() {
  if (uninterrupted_scopes > 0) return false;
  for (const InterruptionScope* scope = current_scope; scope != nullptr; scope = scope->outer_)
    if (scope->is_interrupted_()) return true;
  const InterruptionCheck check = interruption_check;
  return check != nullptr && check();
}

InterruptionScope::InterruptionScope(FunctionRef<bool()> is_interrupted) noexcept
    : is_interrupted_(is_interrupted), outer_(current_scope) {
  current_scope = this;
}

InterruptionScope::~InterruptionScope() { current_scope = outer_; }

UninterruptedScope::UninterruptedScope() noexcept { ++uninterrupted_scopes; }

UninterruptedScope::~UninterruptedScope() { --uninterrupted_scopes; }

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
