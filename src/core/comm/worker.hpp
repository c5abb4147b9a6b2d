/// A thread that carries out nonblocking accesses in order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/function_ref.hpp"
#include "base/process.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"

namespace plait {

namespace core {

/// Records which tasks of a Worker are interrupted: they must stop waiting for other ranks, because a signal
/// interrupted a thread that waits for these tasks.
class TaskInterruption {
 public:
  /// Interrupts the task with this number and all earlier ones, which must end before it can begin.
  void interrupt_up_to(std::uint64_t number) noexcept {
    std::uint64_t before = last_;
    while (before < number && !last_.compare_exchange_weak(before, number)) {
    }
  }
  /// Returns true if the task with this number is interrupted.
  bool covers(std::uint64_t number) const noexcept { return number > 0 && number <= last_; }

 private:
  std::atomic<std::uint64_t> last_{0};  // numbers begin with 1
};

}  // namespace core

/// The state that a Request shares with the worker's thread.
class Request::Impl {
 public:
  /// The state of task `number` of a Worker.
  Impl(std::shared_ptr<core::TaskInterruption> interruption, std::uint64_t number)
      : interruption_(std::move(interruption)), number_(number) {}

  /// The parts of an Error.  Each waiter throws an Error of its own, because the exception itself stays on the thread.
  struct Failure {
    ErrorKind kind = ErrorKind::kSystem;
    std::string text;
    int code = 0;
  };

  /// Marks the access as ended, with its error if it has failed, and wakes the waiters.
  void finish(std::optional<Failure> failure);
  /// Waits for the access and throws its error.  If the wait is interrupted, the access fails at its next wait for
  /// other ranks.  An access that is busy with a disk for longer continues, and can be waited for again.
  void wait();
  /// Waits for the end of the access without reporting its error.
  /// errors  kSystem, EINTR: it has ended, but the wait was interrupted.
  void wait_done();
  bool done() const;
  /// Returns the error of an access that has ended, and counts it as reported; nullptr if there is none, or if wait()
  /// or this function has reported it already.
  std::exception_ptr unreported_error();
  /// True if the access has ended, and its error, if any, was reported.
  bool is_reported() const;

 private:
  void check_owner() const { owner_.check("the request", "start it anew in this process"); }

  const base::Owner owner_;
  const std::shared_ptr<core::TaskInterruption> interruption_;
  const std::uint64_t number_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  bool is_reported_ = false;
  std::optional<Failure> failure_;
};

namespace core {

/// Runs tasks one at a time, in the order in which they were started; src/core/comm/worker.cpp explains the order.  The
/// thread starts with the first task.  A forked child has no such thread, and calls in it are errors.
class Worker {
 public:
  /// background: false if there is no thread, and tasks are complete when start() returns.  ends_alone: true if the
  /// process may end while one of its threads is in a collective call (Transport::ends_alone()).
  explicit Worker(bool background = true, bool ends_alone = false);
  /// Finishes all started tasks.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Queues a task, and returns its state.
  std::shared_ptr<Request::Impl> start(std::function<void()> task);
  /// Starts a task that only notifies other ranks and does not use the caller's objects.
  void post(std::function<void()> task);
  /// Waits until all tasks except those of post() have ended.  Returns true if the wait was interrupted, which makes
  /// tasks fail that wait for other ranks.
  bool wait_for_tasks();
  /// Waits until all tasks have ended, except for a task that this thread runs.  If the process may end alone, it waits
  /// at most half a minute for a task on another caller's thread.
  void finish();
  /// Runs a task after the started ones; on the caller's own thread if there are none.  One task runs at a time.  A
  /// task that a task runs is part of it.
  void run(base::FunctionRef<void()> task);
  /// Runs a task, which must not start others, if no task runs or waits.  Returns false otherwise.
  bool run_if_idle(base::FunctionRef<void()> task);

 private:
  struct Task {
    std::function<void()> body;
    std::shared_ptr<Request::Impl> request;
    std::uint64_t number = 0;
    bool is_notice = false;  // true for tasks of post()
  };

  static constexpr std::chrono::seconds kExitTimeout{30};

  std::shared_ptr<Request::Impl> add(std::function<void()> body, bool is_notice);
  /// Runs a task. Returns its error, if it has failed.
  std::optional<Request::Impl::Failure> carry_out(const Task& task) noexcept;
  /// Runs a task after the started ones, on their thread.
  void run_queued(base::FunctionRef<void()> task);
  /// Waits for the task of another caller, which runs on that caller's thread.  Returns true if the wait was
  /// interrupted; that task has ended then as well.
  bool wait_for_caller(std::unique_lock<std::mutex>& lock);
  /// Runs the queued tasks, on the worker's thread, until the Worker is destroyed.
  void loop();
  void check_owner() const;

  const base::Owner owner_;

  const std::shared_ptr<TaskInterruption> interruption_ = std::make_shared<TaskInterruption>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_number_ = 0;  // number of the last task
  std::deque<Task> tasks_;
  int unfinished_ = 0;              // started tasks other than those of post()
  bool is_busy_ = false;            // true while a task is running, on any thread
  std::thread::id running_thread_;  // the thread of that task
  bool is_ending_ = false;
  const bool background_;
  const bool ends_alone_;
  std::thread thread_;
};

}  // namespace core
}  // namespace plait
