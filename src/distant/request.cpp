#include "distant/request.hpp"

#include <algorithm>
#include <utility>

#include "plait/error.hpp"

namespace plait {

namespace distant {

void Outstanding::begin() {
  const std::scoped_lock lock(mutex_);
  ++count_;
}

void Outstanding::end() {
  const std::scoped_lock lock(mutex_);
  --count_;
  changed_.notify_all();
}

void Outstanding::wait_for_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return count_ == 0; });
}

}  // namespace distant

void DistantRequest::Impl::start(std::int64_t bytes, std::int64_t piece, int ahead, Begin begin, Order order) {
  bytes_ = bytes;
  piece_ = piece;
  ahead_ = ahead;
  begin_ = std::move(begin);
  order_ = std::move(order);
  outstanding_->begin();
  go_on();
}

/// Begins pieces while there is room.  A piece may end before its beginning returns, and would begin the next one from
/// within; one loop begins them all instead.
void DistantRequest::Impl::go_on() {
  const auto self = shared_from_this();
  std::unique_lock lock(mutex_);
  if (std::exchange(going_on_, true)) return;
  while (!all_begun_ && under_way_ < ahead_) {
    const std::int64_t at = begun_;
    const std::int64_t part = std::min(piece_, bytes_ - at);
    begun_ += part;
    all_begun_ = begun_ == bytes_ || failure_;
    ++under_way_;
    lock.unlock();
    begin_(at, part, [self, at](const transport::CallFailure* failure) { self->piece_ended(at, failure); });
    lock.lock();
  }
  going_on_ = false;
  if (ended_ || !all_begun_ || under_way_ > 0) return;
  ended_ = true;
  begin_ = nullptr;
  order_ = nullptr;
  const auto outstanding = outstanding_;
  changed_.notify_all();
  lock.unlock();
  outstanding->end();
}

void DistantRequest::Impl::piece_ended(std::int64_t at, const transport::CallFailure* failure) {
  {
    const std::scoped_lock lock(mutex_);
    --under_way_;
    if (failure != nullptr) {
      const std::int64_t position = order_ ? order_(at) : at;
      if (!failure_ || position < failed_position_) {
        failure_ = *failure;
        failed_position_ = position;
      }
      all_begun_ = true;
    }
  }
  go_on();
}

void DistantRequest::Impl::wait() {
  check_owner();
  if (const auto active = active_.lock()) active->look_until([this] { return done(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
  if (failure_) throw Error(failure_->kind, failure_->text, failure_->code);
}

bool DistantRequest::Impl::done() const {
  check_owner();
  const std::scoped_lock lock(mutex_);
  return ended_;
}

void DistantRequest::wait() { impl_->wait(); }
bool DistantRequest::test() const { return impl_->done(); }

void wait_all(std::span<DistantRequest> requests) {
  std::exception_ptr first;
  for (DistantRequest& request : requests) {
    try {
      request.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace plait
