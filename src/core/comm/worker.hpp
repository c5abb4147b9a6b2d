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

/// Tasks of a Worker that are to end their waits for other ranks: a signal has come to a thread that waits for them.
class TaskInterruption {
 public:
  /// Interrupts the task of this number and those before it, which it stands behind.
  void interrupt_up_to(std::uint64_t number) noexcept {
    std::uint64_t before = last_;
    while (before < number && !last_.compare_exchange_weak(before, number)) {
    }
  }
  bool covers(std::uint64_t number) const noexcept { return number > 0 && number <= last_; }

 private:
  std::atomic<std::uint64_t> last_{0};  // numbers begin with 1
};

}  // namespace core

/// The state that a Request shares with the thread.
class Request::Impl {
 public:
  /// The state of task `number` of a Worker.
  Impl(std::shared_ptr<core::TaskInterruption> interruption, std::uint64_t number)
      : interruption_(std::move(interruption)), number_(number) {}

  /// What an Error says: each waiter gets one of its own, for the exception itself stays with the thread.
  struct Failure {
    ErrorKind kind = ErrorKind::kSystem;
    std::string text;
    int code = 0;
  };

  void finish(std::optional<Failure> failure);
  /// If the wait is interrupted, the access fails at its next wait for other ranks.  One that is busy with a disk for
  /// longer goes on, and may be waited for once more.
  void wait();
  /// Waits for the end of the access, and tells nobody of its error.
  /// errors  kSystem, EINTR: it has ended, but the wait was interrupted.
  void wait_done();
  bool done() const;
  /// The error of an access that has ended, where no wait() has thrown it yet; none the next time.
  std::exception_ptr untold();
  /// Whether the access has ended without an error that nobody has been told.
  bool settled() const;

 private:
  void check_owner() const { owner_.check("the request", "start it anew in this process"); }

  const base::Owner owner_;
  const std::shared_ptr<core::TaskInterruption> interruption_;
  const std::uint64_t number_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool told_ = false;
  std::optional<Failure> failure_;
};

namespace core {

/// The thread starts with the first task.  In a forked child, which has no such thread, calls are errors.
class Worker {
 public:
  /// Without `background` there is no thread: tasks end where they are started.  `ends_alone`: as the transport says.
  explicit Worker(bool background = true, bool ends_alone = false);
  /// Finishes what was started.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::shared_ptr<Request::Impl> start(std::function<void()> task);
  /// Starts a task that only tells the others something, and uses nothing of the caller's.
  void tell(std::function<void()> task);
  /// Waits until all tasks have ended but those that only tell the others something.  Returns whether the wait was
  /// interrupted, which makes tasks fail that wait for other ranks.
  bool settle();
  /// Waits until all tasks have ended; not for one that this thread is in.  Where the process may end alone, it waits
  /// for half a minute for one that another caller's thread is in.
  void finish();
  /// Runs a task behind those that were started: on the caller's own thread where there are none.  One task runs at a
  /// time; what a task itself runs is part of it.
  void run(base::FunctionRef<void()> task);
  /// Runs a task, which may start nothing, where no other one runs or waits.  Returns whether it has.
  bool run_if_idle(base::FunctionRef<void()> task);

 private:
  struct Task {
    std::function<void()> body;
    std::shared_ptr<Request::Impl> request;
    std::uint64_t number = 0;
    bool tells = false;
  };

  static constexpr std::chrono::seconds kPatienceAtTheEnd{30};

  std::shared_ptr<Request::Impl> add(std::function<void()> body, bool tells);
  std::optional<Request::Impl::Failure> carry_out(const Task& task) noexcept;
  /// Behind the tasks that were started, on their thread.
  void run_queued(base::FunctionRef<void()> task);
  /// Waits for the task of another caller, which runs on that caller's thread.  Returns true if the wait was interrupted;
  /// that task has ended then as well.
  bool wait_for_caller(std::unique_lock<std::mutex>& lock);
  void loop();
  void check_owner() const;

  const base::Owner owner_;

  const std::shared_ptr<TaskInterruption> interruption_ = std::make_shared<TaskInterruption>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t numbers_ = 0;  // of tasks so far
  std::deque<Task> tasks_;
  int unsettled_ = 0;       // tasks on the thread, or for it, that do more than tell
  bool busy_ = false;       // a task is running, on either thread
  std::thread::id runner_;  // that thread
  bool ending_ = false;
  const bool background_;
  const bool ends_alone_;
  std::thread thread_;
};

}  // namespace core
}  // namespace plait
