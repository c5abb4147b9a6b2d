/// Accesses under way: a request, cut into pieces of which some are under way at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "plait/distant.hpp"
#include "transport/active.hpp"

namespace plait::distant {

/// The requests of a file that have not ended.
class Outstanding {
 public:
  void begin();
  void end();
  void wait_for_all();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t count_ = 0;
};

}  // namespace plait::distant

namespace plait {

/// The state that callers share with what carries the access out.
class DistantRequest::Impl : public std::enable_shared_from_this<Impl> {
 public:
  /// Begins `bytes` bytes from `offset` on, of a piece; calls `done`, now or later, on any thread.
  using Done = std::function<void(const transport::CallFailure*)>;
  using Begin = std::function<void(std::int64_t at, std::int64_t bytes, Done done)>;

  /// One that has ended.
  Impl() : ended_(true) {}
  /// `active` is looked at by those who wait, where it is given.
  Impl(std::shared_ptr<distant::Outstanding> outstanding, std::weak_ptr<transport::Active> active)
      : outstanding_(std::move(outstanding)), active_(std::move(active)) {}

  /// Carries out `bytes` bytes in pieces, `ahead` of them at a time, at least one piece.
  void start(std::int64_t bytes, std::int64_t piece, int ahead, Begin begin);
  void wait();
  bool done() const;

 private:
  void go_on();
  void piece_ended(const transport::CallFailure* failure);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<distant::Outstanding> outstanding_;
  std::weak_ptr<transport::Active> active_;
  Begin begin_;
  std::int64_t bytes_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t begun_ = 0;
  int ahead_ = 0;
  int under_way_ = 0;
  bool all_begun_ = false;
  bool going_on_ = false;  // somebody begins pieces
  bool ended_ = false;
  std::optional<transport::CallFailure> failure_;
};

}  // namespace plait
