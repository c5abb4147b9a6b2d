/// Converts the calls in a trace of strace to events.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "plait/trace.hpp"
#include "trace/formats/import/strace/calls.hpp"
#include "trace/formats/import/strace/line.hpp"
#include "trace/formats/import/strace/tasks.hpp"

namespace plait::trace::strace {

class EventConverter {
 public:
  EventConverter(Description& description, std::function<void(const Event&)> put)
      : tasks_(description), put_(std::move(put)) {}

  /// Processes a call that has ended. Returns false if its arguments cannot be parsed.
  bool call(std::int64_t thread, std::int64_t start, std::string_view name, std::string_view text, const Call& call);
  /// Ends a thread, and its process if no other thread of it is left.
  void end_thread(std::int64_t thread, std::int64_t start);
  Tasks& tasks() { return tasks_; }
  const Tasks& tasks() const { return tasks_; }

  std::int64_t ring_calls() const { return ring_calls_; }  ///< calls of io_uring_enter
  std::int64_t ring_requests() const { return ring_requests_; }
  /// Calls that transfer data but are not converted to events.
  const MissedCalls& left_out() const { return left_out_; }
  std::int64_t submitted() const { return submitted_; }  ///< requests of io_submit

 private:
  /// Whether a call has one buffer, as read, or a list of them, as readv.
  enum class Buffers : std::uint8_t { kOne, kVector };
  /// Where a call transfers: at the position of the open file, as read, or at an argument, as pread.
  enum class Position : std::uint8_t { kOpenFile, kArgument };

  /// Makes an event of the current thread that transfers nothing.
  Event make_event(std::int64_t start, const Call& call, Kind kind) const;
  /// Passes on an event of an open file; nullptr: of none.
  void emit(Event event, const OpenResult* open);
  /// Returns the open file of an argument such as `3</tmp/file>`.
  Slot& descriptor(std::string_view argument);

  // These convert the calls of one kind. They return false if the arguments cannot be parsed.
  bool transfer(Event event, const Call& call, Buffers buffers, Position position);
  bool open(Event event, std::string_view name, const Call& call);
  bool copy(Event event, const Call& call, bool is_sendfile);
  bool submit(Event event, const Call& call);
  bool map(Event event, const Call& call);
  bool pipe(const Call& call, std::string_view name);
  bool duplicate(Event event, const Call& call, bool close_on_exec);
  bool close_range(const Call& call);
  bool exec(Event event, const Call& call);

  Tasks tasks_;
  std::function<void(const Event&)> put_;
  Task* task_ = nullptr;  // thread that makes the call
  std::uint64_t operations_ = 0;
  MissedCalls left_out_;
  std::int64_t ring_calls_ = 0;
  std::int64_t ring_requests_ = 0;
  std::int64_t submitted_ = 0;
};

}  // namespace plait::trace::strace
