/// Accesses under way: a request is split into pieces, and a limited number of its pieces is under way at a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/process.hpp"
#include "plait/distant.hpp"
#include "transport/active_messages.hpp"

namespace plait::distant {

/// The requests of a file that have not ended.
class OutstandingRequests {
 public:
  void begin(DistantRequest::Impl& request);
  void end(DistantRequest::Impl& request);
  /// Waits for all requests.  Cannot be interrupted.
  void wait_for_all();
  /// Cancels all requests, and waits until accesses to disks of this host that are already under way have ended.
  /// Cannot be interrupted.
  void cancel_all_and_wait();
  /// errors  kSystem, EINTR: the wait was interrupted, and all requests that can be cancelled were.
  void wait_for_all_or_interrupt();

 private:
  /// Cancels without holding the lock, which the end of a request may need.
  void cancel_all(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<DistantRequest::Impl*> requests_;
};

}  // namespace plait::distant

namespace plait {

/// The state that a caller shares with the threads that carry out the access.
class DistantRequest::Impl : public std::enable_shared_from_this<Impl> {
 public:
  /// The callback that ends a piece; it is called once, on any thread, and does not throw.
  class Completion {
   public:
    using Function = std::function<void(const transport::CallFailure*)>;
    Completion(const void* request, Function function) : request_(request), function_(std::move(function)) {}
    void operator()(const transport::CallFailure* failure) const { function_(failure); }
    /// Returns the request, for Call::request.
    const void* request() const { return request_; }
    /// Returns an object with another function for the same request.
    Completion with(Function function) const { return {request_, std::move(function)}; }

   private:
    const void* request_;
    Function function_;
  };
  /// Begins a piece of `bytes` bytes at offset `at` of the request, and calls `done` once, now or later, on any thread.
  /// It may throw only if the piece has not begun; the exception is then the error of the piece.
  using Begin = std::function<void(std::int64_t at, std::int64_t bytes, Completion done)>;
  /// Returns the position of the piece at `at`.  If several pieces fail, the request reports the error of the piece
  /// with the smallest position.
  using Order = std::function<std::int64_t(std::int64_t at)>;

  /// Constructs a request that has ended.
  Impl() : ended_(true) {}
  /// wait() polls `active` for answers unless it has expired.
  Impl(std::shared_ptr<distant::OutstandingRequests> outstanding, std::weak_ptr<transport::ActiveMessages> active)
      : outstanding_(std::move(outstanding)), active_(std::move(active)) {}

  /// Starts a request of `bytes` bytes in pieces of `piece` bytes, at most `ahead` of them at a time; at least one
  /// piece, even if `bytes` is 0.  Without `order`, the position of a piece is its offset.
  void start(std::int64_t bytes, std::int64_t piece, int ahead, Begin begin, Order order = nullptr);
  /// Waits for the end. If the wait is interrupted, calls to other ranks are cancelled and no further piece is begun.
  /// errors  The error of the first failed piece; kSystem, EINTR: the wait was interrupted.  Either way the request has
  /// ended.
  void wait();
  bool done() const;
  /// Ends the request early: it only waits for accesses to disks of this process that are under way, and for calls that
  /// are just being sent.
  void cancel() noexcept;

 private:
  void check_owner() const { owner_.check("the request", "start it anew in this process"); }
  void begin_more();
  /// Returns the failure if the piece could not be begun.
  std::optional<transport::CallFailure> begin_piece(std::int64_t at, std::int64_t bytes);
  void piece_ended(std::int64_t at, const transport::CallFailure* failure);
  /// Records a failure.  The caller holds the lock.
  void record_failure(std::int64_t at, transport::CallFailure failure) noexcept;

  const base::Owner owner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<distant::OutstandingRequests> outstanding_;
  std::weak_ptr<transport::ActiveMessages> active_;
  Begin begin_;
  Order order_;
  std::int64_t bytes_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t begun_bytes_ = 0;
  int max_under_way_ = 0;
  int under_way_ = 0;
  bool all_begun_ = false;
  bool is_beginning_ = false;  // a thread is in the loop that begins pieces
  bool ended_ = false;
  std::optional<transport::CallFailure> failure_;
  std::int64_t failed_position_ = 0;
};

}  // namespace plait
