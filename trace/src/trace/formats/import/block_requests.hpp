/// Reconstructs requests from the lines of a block layer's trace.
///
/// blktrace writes a line when a request is queued (Q), issued to the driver (D) and completed (C):
///
///   8,0 1 11 0.009507758 697 Q W 223490 + 8 [kjournald]
///   8,0 1 15 0.009512013 697 Q W 223498 + 8 [kjournald]
///   8,0 1 17 0.009526900 697 D W 223490 + 16 [kjournald]
///   8,0 1 23 0.009883912   0 C W 223490 + 16 [0]
///
/// These are one request of 16 sectors, because the two queued requests reached the device as one. It begins when it
/// is issued and takes 357012 ns. If the trace lacks the line D, the request begins when it is queued. If it lacks
/// the line C, its duration is unknown.
///
/// A device may complete a request in parts. Each part is a request of its own, which begins when the whole is
/// issued:
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

  /// put  called with each request, or part of a request, at its last line.
  explicit BlockRequests(std::function<void(const Event&)> put) : put_(std::move(put)) {}

  /// Processes a line. `event` has the content of the line, and its start is the time of the line.
  void take(Action action, const Event& event);
  /// Ends the trace: reports requests that were not completed.
  void finish();
  /// Returns a time before which no further request starts.
  std::int64_t horizon() const;
  /// Number of requests without a line C, known at the end.
  std::int64_t unfinished() const { return unfinished_; }

 private:
  struct UnfinishedRequest;
  using Direction = std::pair<std::uint32_t, Kind>;                 ///< file of the device, and kind of request
  using Requests = std::multimap<std::int64_t, UnfinishedRequest>;  ///< key: offset
  using Stage = std::map<Direction, Requests>;
  using Starts = std::multimap<std::int64_t, std::pair<Stage*, Requests::iterator>>;
  struct UnfinishedRequest {
    Event event;
    Starts::iterator start;
  };

  void wait(Stage& stage, const Event& event);
  Event release(Stage& stage, Requests::iterator request);
  /// Removes the bytes of `event` from the requests that wait for them.
  /// returns  the start of the request that contains its first byte.
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
