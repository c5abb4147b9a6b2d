/// Accesses under way: a request, cut into pieces of which some are under way at a time.
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
#include "transport/active.hpp"

namespace plait::distant {

/// The requests of a file that have not ended.
class Outstanding {
 public:
  void begin(DistantRequest::Impl& request);
  void end(DistantRequest::Impl& request);
  /// Is not interrupted.
  void wait_for_all();
  /// Cancels them, which leaves only those that are busy with a disk of this host, and waits for these.
  /// Is not interrupted.
  void cancel_all_and_wait();
  /// errors  kSystem, EINTR: the wait was interrupted, and what could be cancelled was.
  void wait_for_all_or_interrupt();

 private:
  /// Cancels without the lock, which may be needed for the end of a request.
  void cancel_all(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<DistantRequest::Impl*> requests_;
};

}  // namespace plait::distant

namespace plait {

/// The state that callers share with what carries the access out.
class DistantRequest::Impl : public std::enable_shared_from_this<Impl> {
 public:
  /// Begins `bytes` bytes from `offset` on, of a piece; calls `done`, which throws nothing, once, now or later, on any
  /// thread.  What it throws itself, which it may before it has begun anything, is why the piece fails.
  class Done {
   public:
    using Function = std::function<void(const transport::CallFailure*)>;
    Done(const void* request, Function function) : request_(request), function_(std::move(function)) {}
    void operator()(const transport::CallFailure* failure) const { function_(failure); }
    /// The request, for Call::request.
    const void* request() const { return request_; }
    /// Another function of the same request.
    Done with(Function function) const { return {request_, std::move(function)}; }

   private:
    const void* request_;
    Function function_;
  };
  using Begin = std::function<void(std::int64_t at, std::int64_t bytes, Done done)>;
  /// Where the piece at `at` stands among those that fail: the first one's error is that of the request.
  using Order = std::function<std::int64_t(std::int64_t at)>;

  /// One that has ended.
  Impl() : ended_(true) {}
  /// `active` is looked at by those who wait, where it is given.
  Impl(std::shared_ptr<distant::Outstanding> outstanding, std::weak_ptr<transport::Active> active)
      : outstanding_(std::move(outstanding)), active_(std::move(active)) {}

  /// Carries out `bytes` bytes in pieces, `ahead` of them at a time, at least one piece.
  /// Without `order` pieces stand in the order of their offsets.
  void start(std::int64_t bytes, std::int64_t piece, int ahead, Begin begin, Order order = nullptr);
  /// If the wait is interrupted, calls to other ranks are cancelled and no further piece is begun.
  /// errors  What has failed first; kSystem, EINTR: the wait was interrupted.  Either way the request has ended.
  void wait();
  bool done() const;
  /// Makes the request end soon: only a disk of this process may still be at work for it.
  void cancel() noexcept;

 private:
  void check_owner() const { owner_.check("the request", "start it anew in this process"); }
  void go_on();
  /// What throws before anything has been begun is returned.
  std::optional<transport::CallFailure> begin_piece(std::int64_t at, std::int64_t bytes);
  void piece_ended(std::int64_t at, const transport::CallFailure* failure);
  /// Under the lock.
  void keep(std::int64_t at, transport::CallFailure failure) noexcept;

  const base::Owner owner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<distant::Outstanding> outstanding_;
  std::weak_ptr<transport::Active> active_;
  Begin begin_;
  Order order_;
  std::int64_t bytes_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t begun_ = 0;
  int ahead_ = 0;
  int under_way_ = 0;
  bool all_begun_ = false;
  bool going_on_ = false;  // somebody begins pieces
  bool ended_ = false;
  std::optional<transport::CallFailure> failure_;
  std::int64_t failed_position_ = 0;
};

}  // namespace plait
