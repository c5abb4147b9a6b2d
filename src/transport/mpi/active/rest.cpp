// The handler at rest.  MPICH's MPI_Finalize switches its locks off when it begins, so a thread that is inside a call
// of MPI then never unlocks what it has locked, and the program ends with an error: while nothing is open, the handler
// sleeps outside of MPI.

#include <algorithm>
#include <chrono>

#include "transport/mpi/active/mpi_active.hpp"

namespace plait::transport::mpi {

namespace {

using std::chrono::milliseconds;

/// So long the wake-ups of messages that have been found already may be on their way.
constexpr milliseconds kLateWakeUps{20};
/// Between two looks for calls of peers whose wake-ups may not be heard here.
constexpr milliseconds kUnsureNap{400};
constexpr milliseconds kResting{20};
constexpr std::chrono::seconds kPatience{1};

}  // namespace

bool MpiActive::has_tasks() {
  const std::scoped_lock lock(tasks_mutex_);
  return !tasks_.empty();
}

bool MpiActive::begin_rest() {
  const std::scoped_lock lock(mutex_);
  resting_ = operations_.empty() && !has_tasks();
  if (resting_) rested_.notify_all();
  return resting_;
}

void MpiActive::keep_resting() {
  const auto begin = Clock::now();
  auto doubted =
      Clock::time_point::max();  // since when a wake-up may have been for a message that is still to be found
  while (!ending_ && idle_) {
    const Woken woken = wake_ups_->wait(kResting);
    const auto now = Clock::now();
    if (!leaving_.empty()) give_up_gone();
    const int owed = owed_ += woken.all;
    if (owed > 0 || has_tasks()) break;
    if (woken.all > 0) doubted = std::min(doubted, now);
    if (doubted < now - kLateWakeUps) break;
    if (owed < 0 && now - begin > kLateWakeUps) owed_ = 0;
    if (!wake_ups_->sure() && now - begin > kUnsureNap) break;
  }
  const std::scoped_lock lock(mutex_);
  resting_ = false;
}

void MpiActive::rest() noexcept {
  idle_ = true;
  if (std::this_thread::get_id() == thread_.get_id()) return;
  wake_ups_->wake_self();
  std::unique_lock lock(mutex_);
  rested_.wait_for(lock, kPatience, [this] { return resting_ || stopped_ || ending_; });
}

void MpiActive::wake() noexcept {
  idle_ = false;
  wake_ups_->wake_self();
  const std::scoped_lock lock(mutex_);
  resting_ = false;
}

}  // namespace plait::transport::mpi
