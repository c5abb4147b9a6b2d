/// A thread that carries out nonblocking accesses in order.
#pragma once

#include <chrono>
#include <condition_variable>
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

/// The state that a Request shares with the thread.
class Request::Impl {
 public:
  /// What an Error says: each waiter gets one of its own, for the exception itself stays with the thread.
  struct Failure {
    ErrorKind kind = ErrorKind::kSystem;
    std::string text;
    int code = 0;
  };

  void finish(std::optional<Failure> failure);
  void wait();
  /// Waits for the end of the access, and tells nobody of its error.
  void wait_done();
  bool done() const;
  /// The error of an access that has ended, where no wait() has thrown it yet; none the next time.
  std::exception_ptr untold();
  /// Whether the access has ended without an error that nobody has been told.
  bool settled() const;

 private:
  void check_owner() const { owner_.check("the request", "start it anew in this process"); }

  const base::Owner owner_;
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
  /// Waits until all tasks have ended but those that only tell the others something.
  void settle();
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
    bool tells = false;
  };

  static constexpr std::chrono::seconds kPatienceAtTheEnd{30};

  std::shared_ptr<Request::Impl> add(std::function<void()> body, bool tells);
  static std::optional<Request::Impl::Failure> carry_out(const Task& task) noexcept;
  void loop();
  void check_owner() const;

  const base::Owner owner_;

  std::mutex mutex_;
  std::condition_variable changed_;
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
