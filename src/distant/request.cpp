// The pieces of a request: how many are under way, when the request ends, and which error it reports.
//
// Problem: pieces end in any order and on any thread: a disk thread, the thread that receives messages, or the thread
// that begins them. None of these may throw, recurse without limit, or free the request.
//
// Idea: only one thread at a time (`is_beginning_`) runs the loop that begins pieces while fewer than `max_under_way_`
// are under way. A piece that ends on the same thread only decrements the counter, and the loop continues. The error of
// a request is that of the failed piece with the lowest position, so that it does not depend on timing.
//
// Example: 5 MiB in pieces of 256 KiB with ahead = 16. start() begins pieces 0 to 15. When piece 3 ends, begin_more()
// begins piece 16. If piece 7 fails, no further piece is begun (`all_begun_`). If piece 5, which is still under way,
// fails too, the request reports the error of piece 5. The request ends when none is under way.

#include "distant/request.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/wait/interruption.hpp"
#include "base/wait/retry_allocation.hpp"
#include "collective/agree.hpp"
#include "distant/server.hpp"
#include "plait/error.hpp"

namespace plait {

namespace distant {

void OutstandingRequests::begin(DistantRequest::Impl& request) {
  const std::scoped_lock lock(mutex_);
  requests_.insert(&request);
}

void OutstandingRequests::end(DistantRequest::Impl& request) {
  const std::scoped_lock lock(mutex_);
  requests_.erase(&request);
  changed_.notify_all();
}

void OutstandingRequests::wait_for_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return requests_.empty(); });
}

void OutstandingRequests::cancel_all_and_wait() {
  std::unique_lock lock(mutex_);
  while (!requests_.empty()) {
    cancel_all(lock);
    changed_.wait_for(lock, base::kBetweenInterruptions, [this] { return requests_.empty(); });
  }
}

void OutstandingRequests::cancel_all(std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<DistantRequest::Impl>> all;
  for (DistantRequest::Impl* const request : requests_) all.push_back(request->shared_from_this());
  lock.unlock();
  for (const auto& request : all) request->cancel();
  all.clear();
  lock.lock();
}

void OutstandingRequests::wait_for_all_or_interrupt() {
  std::unique_lock lock(mutex_);
  const auto none = [this] { return requests_.empty(); };
  const bool interrupted = base::wait_or_interrupt(changed_, lock, none, [&] { cancel_all(lock); });
  if (interrupted) base::throw_system_error(EINTR, "interrupted while it waited for accesses to distant files");
}

}  // namespace distant

void DistantRequest::Impl::start(std::int64_t bytes, std::int64_t piece, int ahead, Begin begin, Order order) {
  bytes_ = bytes;
  piece_ = piece;
  max_under_way_ = ahead;
  begin_ = std::move(begin);
  order_ = std::move(order);
  outstanding_->begin(*this);
  begin_more();
}

/// Begins pieces while fewer than `max_under_way_` are under way.  A piece may end before the call that begins it
/// returns; one loop begins all pieces, so that it does not begin the next one recursively.  This does not throw,
/// because the caller may be a disk thread: if a piece cannot be begun, the request fails when those under way have
/// ended.
void DistantRequest::Impl::begin_more() {
  const auto self = shared_from_this();
  std::unique_lock lock(mutex_);
  if (std::exchange(is_beginning_, true)) return;
  while (!all_begun_ && under_way_ < max_under_way_) {
    const std::int64_t at = begun_bytes_;
    const std::int64_t part = std::min(piece_, bytes_ - at);
    begun_bytes_ += part;
    all_begun_ = begun_bytes_ == bytes_ || failure_;
    ++under_way_;
    lock.unlock();
    auto failure = begin_piece(at, part);
    lock.lock();
    if (!failure) continue;
    --under_way_;
    record_failure(at, std::move(*failure));
  }
  is_beginning_ = false;
  if (ended_ || !all_begun_ || under_way_ > 0) return;
  ended_ = true;
  begin_ = nullptr;
  order_ = nullptr;
  const auto outstanding = outstanding_;
  changed_.notify_all();
  lock.unlock();
  outstanding->end(*this);
}

std::optional<transport::CallFailure> DistantRequest::Impl::begin_piece(std::int64_t at, std::int64_t bytes) {
  const std::exception_ptr error = collective::caught([&] {
    begin_(at, bytes, Completion(this, [self = shared_from_this(), at](const transport::CallFailure* failure) {
             self->piece_ended(at, failure);
           }));
  });
  if (!error) return std::nullopt;
  return distant::to_call_failure(error);
}

void DistantRequest::Impl::piece_ended(std::int64_t at, const transport::CallFailure* failure) {
  std::optional<transport::CallFailure> copy;
  if (failure != nullptr) base::retry_allocation("record why an access failed", [&] { copy = *failure; });
  {
    const std::scoped_lock lock(mutex_);
    --under_way_;
    if (copy) record_failure(at, std::move(*copy));
  }
  begin_more();
}

void DistantRequest::Impl::record_failure(std::int64_t at, transport::CallFailure failure) noexcept {
  const std::int64_t position = order_ ? order_(at) : at;
  if (!failure_ || position < failed_position_) {
    failure_ = std::move(failure);
    failed_position_ = position;
  }
  all_begun_ = true;
}

void DistantRequest::Impl::wait() {
  check_owner();
  if (const auto active = active_.lock()) active->poll_answers_until([this] { return done(); });
  std::unique_lock lock(mutex_);
  // cancel() skips calls that are just being sent, so the wait calls this again.
  const auto interrupt = [&] {
    lock.unlock();
    cancel();
    lock.lock();
  };
  const bool interrupted = base::wait_or_interrupt(changed_, lock, [this] { return ended_; }, interrupt);
  if (failure_) failure_->raise();
  if (interrupted) base::throw_system_error(EINTR, "interrupted while it waited for an access to a distant file");
}

void DistantRequest::Impl::cancel() noexcept {
  const auto why = base::retry_allocation("cancel an access", [] {
    return transport::CallFailure{ErrorKind::kSystem, EINTR, "the access to a distant file was interrupted"};
  });
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    all_begun_ = true;
    if (!failure_) {
      failure_ = why;
      failed_position_ = std::numeric_limits<std::int64_t>::max();
    }
  }
  if (const auto active = active_.lock()) active->cancel(this, why);
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
