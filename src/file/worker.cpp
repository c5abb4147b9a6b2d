#include "file/worker.hpp"

#include <utility>

#include "plait/error.hpp"

namespace plait {

void Request::Impl::finish(std::exception_ptr error) {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
    error_ = std::move(error);
  }
  changed_.notify_all();
}

void Request::Impl::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  if (!error_) return;
  told_ = true;
  try {
    std::rethrow_exception(error_);
  } catch (const Error& error) {
    // A copy for each waiter: the exception itself belongs to the thread, which may let go of it at any time.
    throw Error(error.kind(), error.what(), error.system_code());
  }
}

bool Request::Impl::done() const {
  const std::scoped_lock lock(mutex_);
  return done_;
}

std::exception_ptr Request::Impl::untold() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(told_, true) ? nullptr : error_;
}

bool Request::Impl::settled() const {
  const std::scoped_lock lock(mutex_);
  return done_ && (told_ || !error_);
}

void Request::wait() { impl_->wait(); }
bool Request::test() const { return impl_->done(); }

namespace file {

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Request::Impl> Worker::start(std::function<void()> task) {
  auto request = std::make_shared<Request::Impl>();
  {
    const std::scoped_lock lock(mutex_);
    // The thread first: where there can be none, no task must stay behind.
    if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
    tasks_.emplace_back(std::move(task), request);
  }
  changed_.notify_all();
  return request;
}

void Worker::run(const std::function<void()>& task) {
  {
    std::unique_lock lock(mutex_);
    if (busy_ || !tasks_.empty()) {
      if (!thread_.joinable()) {  // another caller's task runs on that caller's thread
        changed_.wait(lock, [this] { return !busy_; });
      } else {
        lock.unlock();
        start(task)->wait();
        return;
      }
    }
    busy_ = true;
  }
  const auto finished = [this] {
    {
      const std::scoped_lock lock(mutex_);
      busy_ = false;
    }
    changed_.notify_all();
  };
  try {
    task();
  } catch (...) {
    finished();
    throw;
  }
  finished();
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !busy_ && (ending_ || !tasks_.empty()); });
    if (tasks_.empty()) return;
    auto [task, request] = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
    request->finish(error);
  }
}

}  // namespace file
}  // namespace plait
