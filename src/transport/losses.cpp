#include "transport/losses.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"

namespace plait::transport {

namespace {

/// Time before a loss ends a wait: data that the lost process has sent may still arrive, or be forwarded by other
/// ranks.
constexpr std::chrono::seconds kGrace{5};

}  // namespace

void Losses::begin(std::function<void()> watch) {
  const std::scoped_lock lock(mutex_);
  watch_ = std::move(watch);
}

void Losses::end() {
  const std::scoped_lock lock(mutex_);
  watch_ = nullptr;
}

void Losses::record(int worker) {
  // Store the time before the rank: a thread that sees lost_ also sees since_, and waits for kGrace from then on.
  Clock::rep unset = 0;
  since_.compare_exchange_strong(unset, Clock::now().time_since_epoch().count());
  int none = -1;
  lost_.compare_exchange_strong(none, worker);
}

void Losses::check() const {
  const int lost = lost_;
  if (lost >= 0)
    base::throw_system_error(EOWNERDEAD, "rank ", lost,
                             " has ended or left; nothing more can be done by all ranks together");
}

void Losses::check_waiting() {
  {
    const std::scoped_lock lock(mutex_);
    if (watch_) std::exchange(watch_, nullptr)();
  }
  if (lost_ >= 0 && Clock::now().time_since_epoch() - Clock::duration(since_) > kGrace) check();
}

}  // namespace plait::transport
