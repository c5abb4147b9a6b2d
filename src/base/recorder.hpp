/// Plait's own input and output as events of a trace: what programs ask for, and the requests that reach the system.
///
/// PLAIT_TRACE names the trace; without it every call here costs one load.  docs/reference/settings.md
#pragma once

#include <cstdint>
#include <string>

#include "base/events/events.h"

namespace plait::base {

/// Joins the trace that PLAIT_TRACE names, once.  Where it cannot, it says so on the standard error and goes on
/// without. rank: in the job where the environment does not tell it, -1 without.
void begin_recording(int rank);

inline bool recording() noexcept { return plait_events_active() != 0; }

/// The number of a file in the trace; 0 without one.
std::uint32_t recorded_name(const std::string& name);

/// Where in a file something was done, and what came of it.
struct RecordedAccess {
  std::uint32_t file = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t result = 0;  ///< bytes, or -errno
};

/// A request of the program, from when it was made.
class RecordedCall {
 public:
  /// Begins now.
  RecordedCall() {
    if (recording()) begin();
  }
  bool kept() const noexcept { return operation_ != 0; }
  std::uint64_t operation() const noexcept { return operation_; }
  /// Is complete.
  void end(plait_event_kind kind, const RecordedAccess& access, unsigned flags) const;

 private:
  void begin();

  std::int64_t start_ = 0;
  std::uint64_t operation_ = 0;
};

/// As long as it lives, requests of this thread belong to an operation.
class OperationScope {
 public:
  explicit OperationScope(const RecordedCall& asked) noexcept : before_(current_) { current_ = asked.operation(); }
  ~OperationScope() { current_ = before_; }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

  static std::uint64_t operation() noexcept { return current_; }

 private:
  static thread_local std::uint64_t current_;
  std::uint64_t before_;
};

/// One request to the system.  A recording library that was preloaded leaves out what happens while it lives.
class RecordedRequest {
 public:
  explicit RecordedRequest(plait_event_kind kind) noexcept : kind_(kind) {
    if (recording()) begin();
  }
  ~RecordedRequest() {
    if (start_ != 0) resume();
  }
  RecordedRequest(const RecordedRequest&) = delete;
  RecordedRequest& operator=(const RecordedRequest&) = delete;

  bool kept() const noexcept { return start_ != 0; }
  /// The call has returned.  Leaves errno alone.
  void end(const RecordedAccess& access) const noexcept;

 private:
  void begin() noexcept;
  void resume() const noexcept;

  plait_event_kind kind_;
  std::int64_t start_ = 0;
};

}  // namespace plait::base
