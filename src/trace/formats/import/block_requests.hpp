/// One request from the lines that a block layer's trace has of it.
///
/// blktrace writes a line when a request is queued (Q), issued to the driver (D) and completed (C):
///
///   8,0 1 11 0.009507758 697 Q W 223490 + 8 [kjournald]
///   8,0 1 15 0.009512013 697 Q W 223498 + 8 [kjournald]
///   8,0 1 17 0.009526900 697 D W 223490 + 16 [kjournald]
///   8,0 1 23 0.009883912   0 C W 223490 + 16 [0]
///
/// These are one request of 16 sectors: the two that were queued reached the device as one.  It begins when it is
/// issued and takes 357012 ns.  Where the trace lacks the line D, the request begins when it is queued; where it lacks
/// the line C, it is not known how long it took.
///
/// A device may complete a request in parts.  Each part is a request of its own, which begins when the whole is issued:
///
///   8,0 1 1 0.2 697 D R 0 + 16 [reader]
///   8,0 1 2 0.3   0 C R 0 + 8 [0]            8 sectors from 0 on, from 0.2 to 0.3
///   8,0 1 3 0.4   0 C R 8 + 8 [0]            8 sectors from 8 on, from 0.2 to 0.4
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "plait/trace.hpp"

namespace plait::trace {

class BlockRequests {
 public:
  enum class Action : std::uint8_t { kQueued, kIssued, kRequeued, kCompleted };

  /// Calls `put` with each request, or part of one, at its last line.
  explicit BlockRequests(std::function<void(const Event&)> put) : put_(std::move(put)) {}

  /// `event`: what the line says; its start is the time of the line.
  void take(Action action, const Event& event);
  /// At the end of the trace: requests that were not completed.
  void finish();
  /// No request that starts before this comes any more.
  std::int64_t horizon() const;
  /// Requests without a line C so far, at the end.
  std::int64_t unfinished() const { return unfinished_; }

 private:
  struct Waiting;
  using Direction = std::pair<std::uint32_t, Kind>;       ///< the device's file, and what is done to it
  using Requests = std::multimap<std::int64_t, Waiting>;  ///< by offset
  using Stage = std::map<Direction, Requests>;
  using Starts = std::multimap<std::int64_t, std::pair<Stage*, Requests::iterator>>;
  struct Waiting {
    Event event;
    Starts::iterator start;
  };

  void wait(Stage& stage, const Event& event);
  Event release(Stage& stage, Requests::iterator request);
  /// Takes the bytes of `event` out of the requests that wait for them.  returns  when the one with its first byte began.
  std::optional<std::int64_t> remove(Stage& stage, const Event& event);
  void remove_part(Stage& stage, Requests::iterator request, std::int64_t begin, std::int64_t end);
  void give_up_earliest();

  std::function<void(const Event&)> put_;
  Stage queued_;
  Stage issued_;
  Starts starts_;
  std::int64_t unfinished_ = 0;
};

}  // namespace plait::trace
