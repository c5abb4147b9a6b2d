// The order of collective calls on one Comm.
//
// Problem: all ranks must make the calls of a communicator in one order, also those that were started and run in the
// background.  Most programs only make blocking calls, for which a second thread would cost a change of thread each
// time.
//
// Idea: a Worker runs one task at a time.  Started tasks run on its thread, in order.  A blocking call runs on the
// caller's thread if no task is running or waiting, else after the started tasks on their thread (run_queued).  A call
// within a task is part of that task.
//
// Interruption: tasks have ascending numbers.  A signal that interrupts a wait for task n interrupts all tasks up to n,
// because task n cannot begin before they end.  Example: tasks 1 and 2 are started, the program waits for task 2, and
// SIGINT arrives.  Tasks 1 and 2 fail at their next wait for other ranks, so the other ranks get an error.  Task 3,
// which is started later, is not affected.

#include "core/comm/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/wait/blocking_wait.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "transport/ending.hpp"

namespace plait {

namespace {

/// Reports a wait that was interrupted although the access succeeded: Python then raises the exception of its signal
/// handler.
[[noreturn]] void throw_interrupted() { base::throw_system_error(EINTR, "interrupted while it waited"); }

}  // namespace

void Request::Impl::finish(std::optional<Failure> failure) {
  {
    const std::scoped_lock lock(mutex_);
    is_done_ = true;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
}

void Request::Impl::wait() {
  // Time after an interruption within which an access that waits for other ranks ends by itself.
  constexpr std::chrono::milliseconds kGracePeriod{150};
  using Clock = std::chrono::steady_clock;
  check_owner();
  const base::BlockingWait blocking;
  auto limit = Clock::time_point::max();
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return is_done_ || Clock::now() > limit; };
  const bool interrupted = base::wait_or_interrupt(changed_, lock, ended, [&] {
    interruption_->interrupt_up_to(number_);
    limit = std::min(limit, Clock::now() + kGracePeriod);
  });
  if (!is_done_) base::throw_system_error(EINTR, "interrupted while it waited for an access, which goes on");
  if (failure_) {
    const Error error(failure_->kind, failure_->text, failure_->code);
    is_reported_ = true;
    throw error;
  }
  if (interrupted) throw_interrupted();
}

void Request::Impl::wait_done() {
  check_owner();
  const base::BlockingWait blocking;
  std::unique_lock lock(mutex_);
  if (base::wait_or_interrupt(
          changed_, lock, [this] { return is_done_; }, [this] { interruption_->interrupt_up_to(number_); }))
    throw_interrupted();
}

bool Request::Impl::done() const {
  check_owner();
  const std::scoped_lock lock(mutex_);
  return is_done_;
}

std::exception_ptr Request::Impl::unreported_error() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(is_reported_, true) || !failure_) return nullptr;
  return collective::caught([this] { throw Error(failure_->kind, failure_->text, failure_->code); });
}

bool Request::Impl::is_reported() const {
  const std::scoped_lock lock(mutex_);
  return is_done_ && (is_reported_ || !failure_);
}

void Request::wait() { impl_->wait(); }
bool Request::test() const { return impl_->done(); }

namespace core {

namespace {

/// The workers of this process.  Their started tasks end before MPI does.
struct LiveWorkers {
  std::mutex mutex;
  std::set<Worker*> all;
};

LiveWorkers& all_workers() {
  static base::PerProcess<LiveWorkers> instance;
  return instance.get();
}

void finish_all() {
  const std::scoped_lock lock(all_workers().mutex);
  for (Worker* worker : all_workers().all) worker->finish();
}

/// Registers finish_all() for the end of MPI or of the program, once in each process: a child does not end the tasks of
/// its parent.
void finish_at_ending() {
  static base::PerProcess<std::once_flag> registered;
  std::call_once(registered.get(), [] { transport::at_ending(transport::EndingStage::kStarted, finish_all); });
}

}  // namespace

Worker::Worker(bool background, bool ends_alone) : background_(background), ends_alone_(ends_alone) {
  finish_at_ending();
  const std::scoped_lock lock(all_workers().mutex);
  all_workers().all.insert(this);
}

Worker::~Worker() {
  {
    const std::scoped_lock lock(all_workers().mutex);
    all_workers().all.erase(this);
  }
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  const base::BlockingWait blocking;
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Request::Impl> Worker::add(std::function<void()> body, bool is_notice) {
  check_owner();
  if (!background_) {
    auto request = base::make_owned<Request::Impl>(interruption_, std::uint64_t{0});
    std::optional<Request::Impl::Failure> failure;
    run([&] { failure = carry_out({std::move(body), request, 0, is_notice}); });
    // The exception of the signal's handler is raised here, on the thread that received the signal.
    if (failure && failure->code == EINTR && base::interrupted())
      throw Error(failure->kind, failure->text, failure->code);
    request->finish(std::move(failure));
    return request;
  }
  std::shared_ptr<Request::Impl> request;
  {
    const std::scoped_lock lock(mutex_);
    request = base::make_owned<Request::Impl>(interruption_, ++last_number_);
    // The thread is created first: if that fails, no task may remain in the queue.
    if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
    tasks_.push_back({std::move(body), request, last_number_, is_notice});
    if (!is_notice) ++unfinished_;
  }
  changed_.notify_all();
  return request;
}

std::shared_ptr<Request::Impl> Worker::start(std::function<void()> task) {
  return add(std::move(task), /*is_notice=*/false);
}

void Worker::post(std::function<void()> task) { add(std::move(task), /*is_notice=*/true); }

bool Worker::wait_for_tasks() {
  const base::BlockingWait blocking;
  std::unique_lock lock(mutex_);
  return base::wait_or_interrupt(
      changed_, lock, [this] { return unfinished_ == 0; }, [this] { interruption_->interrupt_up_to(last_number_); });
}

void Worker::finish() {
  const base::BlockingWait blocking;
  std::unique_lock lock(mutex_);
  const auto finished = [this] { return !is_busy_ && tasks_.empty(); };
  // exit() was called in a signal's handler: the task below it on the stack never ends.
  if (is_busy_ && running_thread_ == std::this_thread::get_id()) return;
  // Started tasks end, because the other ranks do their parts, or are found to have ended.  A call on a thread that the
  // program leaves running, however, may wait for ranks that in turn wait for this process.
  const auto no_other_caller = [this] { return !is_busy_ || running_thread_ == thread_.get_id(); };
  if (ends_alone_ && !changed_.wait_for(lock, kExitTimeout, no_other_caller)) return;
  changed_.wait(lock, finished);
}

std::optional<Request::Impl::Failure> Worker::carry_out(const Task& task) noexcept {
  // Short enough for a std::string without allocated memory.
  static constexpr const char* kNoMemory = "out of memory";
  const auto failure = [](ErrorKind kind, const char* text, int code) {
    Request::Impl::Failure result{kind, {}, code};
    try {
      result.text = text;
    } catch (const std::bad_alloc&) {
      result.text = kNoMemory;
    }
    return result;
  };
  const auto is_covered = [this, &task] { return interruption_->covers(task.number); };
  try {
    const base::InterruptionScope scope(is_covered);
    task.body();
  } catch (const Error& error) {
    return failure(error.kind(), error.what(), error.system_code());
  } catch (const std::bad_alloc&) {
    return failure(ErrorKind::kSystem, kNoMemory, ENOMEM);
  } catch (const std::exception& error) {
    return failure(ErrorKind::kSystem, error.what(), 0);
  } catch (...) {
    return failure(ErrorKind::kSystem, "a task failed", 0);
  }
  return std::nullopt;
}

void Worker::run(base::FunctionRef<void()> task) {
  check_owner();
  std::uint64_t number = 0;
  bool interrupted = false;
  {
    std::unique_lock lock(mutex_);
    if (is_busy_ && running_thread_ == std::this_thread::get_id()) {
      lock.unlock();
      return task();
    }
    if (is_busy_ || !tasks_.empty()) {
      if (thread_.joinable()) {
        lock.unlock();
        return run_queued(task);
      }
      interrupted = wait_for_caller(lock);
    }
    is_busy_ = true;
    running_thread_ = std::this_thread::get_id();
    number = ++last_number_;
    // The task begins nevertheless, and ends at its first wait for other ranks, so that these get an error instead of
    // waiting.
    if (interrupted) interruption_->interrupt_up_to(number);
  }
  const auto finished = [this] {
    {
      const std::scoped_lock lock(mutex_);
      is_busy_ = false;
    }
    changed_.notify_all();
  };
  const auto is_covered = [this, number] { return interruption_->covers(number); };
  try {
    const base::InterruptionScope scope(is_covered);
    task();
  } catch (...) {
    finished();
    throw;
  }
  finished();
  if (interrupted) throw_interrupted();
}

void Worker::run_queued(base::FunctionRef<void()> task) {
  // The exception is rethrown unchanged: the ranks have agreed on an Error, and guarded() makes any other exception
  // collective.
  std::exception_ptr failure;
  const auto capture = [&task, &failure] {
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  // The task uses objects of the caller, so the caller waits until it has ended.  An interruption makes it end soon.
  const std::exception_ptr interruption = collective::caught([&] { start([&capture] { capture(); })->wait_done(); });
  if (failure) std::rethrow_exception(failure);
  if (interruption) std::rethrow_exception(interruption);
}

bool Worker::wait_for_caller(std::unique_lock<std::mutex>& lock) {
  return base::wait_or_interrupt(
      changed_, lock, [this] { return !is_busy_; }, [this] { interruption_->interrupt_up_to(last_number_); });
}

bool Worker::run_if_idle(base::FunctionRef<void()> task) {
  check_owner();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || is_busy_ || !tasks_.empty()) return false;
  task();
  return true;
}

void Worker::check_owner() const { owner_.check("the communicator", "work without it in this process"); }

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !is_busy_ && (is_ending_ || !tasks_.empty()); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    is_busy_ = true;
    running_thread_ = std::this_thread::get_id();
    lock.unlock();
    auto failure = carry_out(task);
    lock.lock();
    is_busy_ = false;
    if (!task.is_notice) --unfinished_;
    changed_.notify_all();
    task.request->finish(std::move(failure));
  }
}

}  // namespace core
}  // namespace plait
