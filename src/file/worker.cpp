#include "file/worker.hpp"

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
  if (error_) std::rethrow_exception(error_);
}

bool Request::Impl::done() const {
  const std::scoped_lock lock(mutex_);
  return done_;
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
    tasks_.emplace_back(std::move(task), request);
    if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  }
  changed_.notify_all();
  return request;
}

void Worker::run(const std::function<void()>& task) {
  if (idle()) {
    task();
  } else {
    start(task)->wait();
  }
}

bool Worker::idle() {
  const std::scoped_lock lock(mutex_);
  return tasks_.empty() && !busy_;
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
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
    request->finish(error);
    lock.lock();
    busy_ = false;
  }
}

}  // namespace file
}  // namespace plait
