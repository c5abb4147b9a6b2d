#include "transport/call_gate.hpp"

namespace plait::transport {

namespace {

/// Calls that this thread is in, one inside the other.
thread_local int depth = 0;

}  // namespace

CallGate& CallGate::instance() {
  static auto* const gate = new CallGate;
  return *gate;
}

bool CallGate::is_inside() noexcept { return depth > 0; }

// Sequentially consistent: a thread first counts itself, then reads the state; stop() first writes the state, then reads
// the count.  One of them sees the other.
bool CallGate::enter() noexcept {
  if (depth > 0) {
    ++depth;
    return true;
  }
  ++inside_;
  if (state_ == State::kOpen) {
    depth = 1;
    return true;
  }
  --inside_;
  std::unique_lock lock(mutex_);
  changed_.notify_all();
  changed_.wait(lock, [this] {
    const State state = state_;
    return state == State::kOpen || state == State::kClosed || (state == State::kSerial && inside_ == 0);
  });
  if (state_ == State::kClosed) return false;
  ++inside_;
  depth = 1;
  return true;
}

void CallGate::leave() noexcept {
  if (--depth > 0) return;
  --inside_;
  if (state_ == State::kOpen) return;
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

bool CallGate::stop(State state, std::chrono::milliseconds patience) noexcept {
  std::unique_lock lock(mutex_);
  if (state_ == State::kClosed) return true;
  state_ = state;
  changed_.notify_all();
  // A program may end in a signal handler that interrupts a call.  That call never returns.
  const int own = is_inside() ? 1 : 0;
  return changed_.wait_for(lock, patience, [this, own] { return inside_ == own; });
}

bool CallGate::pause(std::chrono::milliseconds patience) noexcept { return stop(State::kPaused, patience); }

bool CallGate::close(std::chrono::milliseconds patience) noexcept { return stop(State::kClosed, patience); }

void CallGate::resume() noexcept {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::kPaused) state_ = State::kOpen;
  changed_.notify_all();
}

void CallGate::serialize() noexcept {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::kClosed) state_ = State::kSerial;
  changed_.notify_all();
}

}  // namespace plait::transport
