/// Coroutines of ranks on the virtual clock: a coroutine is suspended while time passes.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "simulation/clock/event_queue.hpp"

namespace plait::simulation {

class Resumer;

/// A coroutine that begins when it is started or awaited. The awaiting coroutine continues when the task has ended,
/// and gets its exception.
class Task {
 public:
  class promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept;
    void await_resume() const noexcept {}
  };
  class promise_type {  // NOLINT: its names are the language's
   public:
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    FinalAwaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { error_ = std::current_exception(); }

    /// The coroutine that continues at the end of this one.
    std::coroutine_handle<> next() const noexcept { return next_; }
    void set_next(std::coroutine_handle<> next) noexcept { next_ = next; }
    void check() const {
      if (error_) std::rethrow_exception(error_);
    }

   private:
    std::coroutine_handle<> next_;
    std::exception_ptr error_;
  };

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Begins the task at `time`.
  void start_at(Resumer& resumer, Time time) const;
  bool done() const { return handle_.done(); }
  /// errors  the exception of the task
  void check() const { handle_.promise().check(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
    handle_.promise().set_next(waiting);
    return handle_;
  }
  void await_resume() const { check(); }

 private:
  Handle handle_;
};

inline std::coroutine_handle<> Task::FinalAwaiter::await_suspend(Handle ended) const noexcept {
  const std::coroutine_handle<> next = ended.promise().next();
  return next ? next : std::noop_coroutine();
}

/// Resumes coroutines at their times.
class Resumer final : public Timer {
 public:
  explicit Resumer(EventQueue& clock) : clock_(clock) {}

  EventQueue& clock() const { return clock_; }
  Time now() const { return clock_.now(); }
  void resume_at(Time time, std::coroutine_handle<> handle) {
    clock_.schedule(time, *this, reinterpret_cast<std::uintptr_t>(handle.address()));
  }

  /// `co_await until(time)`: continues at once if no event is due before `time`.
  auto until(Time time) {
    struct TimeAwaiter {
      Resumer& resumer;
      Time time;
      bool await_ready() const noexcept { return time <= resumer.now() || resumer.clock_.try_advance(time); }
      void await_suspend(std::coroutine_handle<> handle) const { resumer.resume_at(time, handle); }
      void await_resume() const noexcept {}
    };
    return TimeAwaiter{*this, time};
  }

 private:
  void fire(std::uint64_t token) override {
    std::coroutine_handle<>::from_address(reinterpret_cast<void*>(static_cast<std::uintptr_t>(token))).resume();
  }

  EventQueue& clock_;
};

inline void Task::start_at(Resumer& resumer, Time time) const { resumer.resume_at(time, handle_); }

/// `co_await Suspend{slot}` stores the coroutine in `slot`, from where another part of the simulation resumes it.
struct Suspend {
  std::coroutine_handle<>& slot;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const noexcept { slot = handle; }
  void await_resume() const noexcept {}
};

}  // namespace plait::simulation
