/// Records Plait's own input and output as events of a trace: the requests of programs to Plait, and Plait's requests
/// to the system.
///
/// PLAIT_TRACE names the trace (docs/reference/settings.md). Without it every call here costs one load.
#pragma once

#include <cstdint>
#include <string>

#include "base/events/events.h"

namespace plait::base {

/// Joins the trace that PLAIT_TRACE names, once. If this fails, it prints the reason on the standard error and
/// records nothing.
/// rank  in the job, if the environment does not contain it; -1 without a job.
void begin_recording(int rank);

/// Returns true if events are recorded.
inline bool recording() noexcept { return plait_events_active() != 0; }

/// Returns the number of a file in the trace; 0 without a trace.
std::uint32_t recorded_name(const std::string& name);

/// The position and the result of an access to a file.
struct RecordedAccess {
  std::uint32_t file = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t result = 0;  ///< bytes, or -errno
};

/// A request of the program to Plait, from its start on.
class RecordedCall {
 public:
  /// Begins the request now.
  RecordedCall() {
    if (recording()) begin();
  }
  bool is_recorded() const noexcept { return operation_ != 0; }
  std::uint64_t operation() const noexcept { return operation_; }
  /// Records the request as complete.
  void end(plait_event_kind kind, const RecordedAccess& access, unsigned flags) const;

 private:
  void begin();

  std::int64_t start_ = 0;
  std::uint64_t operation_ = 0;
};

/// Makes requests of this thread belong to an operation during its lifetime.
class OperationScope {
 public:
  explicit OperationScope(const RecordedCall& call) noexcept : before_(current_) { current_ = call.operation(); }
  ~OperationScope() { current_ = before_; }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

  static std::uint64_t operation() noexcept { return current_; }

 private:
  static thread_local std::uint64_t current_;
  std::uint64_t before_;
};

/// One request to the system. A preloaded recording library ignores the calls of this thread during its lifetime.
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

  bool is_recorded() const noexcept { return start_ != 0; }
  /// Records that the call has returned. Does not change errno.
  void end(const RecordedAccess& access) const noexcept;

 private:
  void begin() noexcept;
  void resume() const noexcept;

  plait_event_kind kind_;
  std::int64_t start_ = 0;
};

/// A request that one thread makes and another one carries out, such as one to an object store.
struct DetachedRequest {
  plait_event_kind kind = PLAIT_EVENT_READ;
  std::int64_t start = 0;       ///< plait_events_now() when it was sent
  std::uint64_t operation = 0;  ///< OperationScope::operation() of the thread that made the request
};
/// Records that such a request has ended now.
void record_http(const DetachedRequest& request, const RecordedAccess& access);

}  // namespace plait::base
