#include "transport/call_gate.hpp"

namespace plait::transport {

namespace {

/// Nesting depth of the calls of this thread.
thread_local int depth = 0;
/// True if this thread is the one that a serial gate has let in.
thread_local bool is_serial_call = false;

}  // namespace

CallGate& CallGate::instance() {
  static auto* const gate = new CallGate;
  return *gate;
}

bool CallGate::is_inside() noexcept { return depth > 0; }

// Memory order: enter() increments inside_ and then reads state_; keep_out() writes state_ and then reads inside_.
// With sequential consistency, the default, at least one of them sees the write of the other.
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
    return state == State::kOpen || state == State::kClosed ||
           (state == State::kSerial && !has_serial_call_ && inside_ <= stuck_);
  });
  if (state_ == State::kClosed) return false;
  is_serial_call = has_serial_call_ = state_ == State::kSerial;
  ++inside_;
  depth = 1;
  return true;
}

void CallGate::leave() noexcept {
  if (--depth > 0) return;
  --inside_;
  if (state_ == State::kOpen) return;
  const std::scoped_lock lock(mutex_);
  if (is_serial_call) is_serial_call = has_serial_call_ = false;
  changed_.notify_all();
}

/// Enters a state in which no call begins, and waits until those under way have ended.
bool CallGate::keep_out(State state, std::chrono::milliseconds timeout) noexcept {
  std::unique_lock lock(mutex_);
  if (state_ == State::kClosed) return true;
  state_ = state;
  changed_.notify_all();
  // If a signal handler that interrupts a call ends the program, that call never returns.  Do not wait for it.
  const int interrupted_calls = is_inside() ? 1 : 0;
  const auto all_ended = [this, interrupted_calls] { return inside_ <= interrupted_calls + stuck_; };
  const bool ended_in_time = changed_.wait_for(lock, timeout, all_ended);
  if (!ended_in_time) stuck_ = inside_ - interrupted_calls;
  return ended_in_time && stuck_ == 0;
}

bool CallGate::pause(std::chrono::milliseconds timeout) noexcept { return keep_out(State::kPaused, timeout); }

bool CallGate::close(std::chrono::milliseconds timeout) noexcept { return keep_out(State::kClosed, timeout); }

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
