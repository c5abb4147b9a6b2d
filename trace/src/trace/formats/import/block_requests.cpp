// Requests from the lines of a block layer's trace.
//
// Each device and direction has two stages, queued and issued, which are maps of requests by offset. A line removes
// its range of bytes from the stage before and enters its own stage. The remainders of a request that is removed in
// part stay there.
//
// Example: a request of the sectors 0 to 15 is issued, and the sectors 4 to 11 are completed. The sectors 0 to 3 and
// 12 to 15 continue to wait, each with the start of the whole request.

#include "trace/formats/import/block_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace plait::trace {

namespace {

// Maximum number of waiting requests. A trace without completions would exceed it; the earliest request is then
// returned unfinished.
constexpr std::size_t kMaxWaiting = 1 << 16;

// Maximum number of requests searched for a byte. Requests in progress rarely overlap.
constexpr int kMaxSearch = 64;

std::int64_t event_end(const Event& event) { return event.offset + event.length; }

// Finds the request that begins at an offset, preferably with the same length, or else one that contains it.
template <typename Requests>
typename Requests::iterator find_request(Requests& requests, std::int64_t offset, std::int64_t length) {
  const auto [first, last] = requests.equal_range(offset);
  int searched = 0;
  for (auto at = first; at != last && searched < kMaxSearch; ++at, ++searched)
    if (at->second.event.length == length) return at;
  if (first != last) return first;
  for (auto at = first; at != requests.begin() && searched < kMaxSearch; ++searched)
    if (event_end((--at)->second.event) > offset) return at;
  return requests.end();
}

}  // namespace

void BlockRequests::take(Action action, const Event& event) {
  if (action == Action::kQueued) return wait(queued_, event);
  if (action == Action::kIssued) {
    remove(queued_, event);
    return wait(issued_, event);
  }
  std::optional<std::int64_t> start = remove(issued_, event);
  if (action == Action::kRequeued) return wait(queued_, event);
  if (!start) start = remove(queued_, event);
  Event request = event;
  request.start = start.value_or(event.start);
  if (request.start != event.start) request.duration = event.start - request.start;
  put_(request);
}

void BlockRequests::wait(Stage& stage, const Event& event) {
  if (starts_.size() >= kMaxWaiting) give_up_earliest();
  const auto request = stage[{event.file, event.kind}].emplace(event.offset, UnfinishedRequest{event, {}});
  request->second.start = starts_.emplace(event.start, std::pair{&stage, request});
}

Event BlockRequests::release(Stage& stage, Requests::iterator request) {
  const Event event = request->second.event;
  starts_.erase(request->second.start);
  stage[{event.file, event.kind}].erase(request);
  return event;
}

std::optional<std::int64_t> BlockRequests::remove(Stage& stage, const Event& event) {
  Requests& requests = stage[{event.file, event.kind}];
  std::optional<std::int64_t> start;
  const std::int64_t end = event_end(event);
  std::int64_t offset = event.offset;
  do {
    auto request = event.length > 0 ? find_request(requests, offset, end - offset) : requests.find(offset);
    if (request == requests.end()) request = requests.lower_bound(offset);
    if (request == requests.end() || (request->first >= end && request->first != event.offset)) break;
    offset = std::max(offset, request->first);
    const Event waiting = request->second.event;
    if (!start && offset == event.offset) start = waiting.start;
    const std::int64_t part_end = event.length > 0 ? std::min(end, event_end(waiting)) : event_end(waiting);
    remove_part(stage, request, offset, part_end);
    offset = part_end;
  } while (offset < end);
  return start;
}

// The rest of the request continues to wait.
void BlockRequests::remove_part(Stage& stage, Requests::iterator request, std::int64_t begin, std::int64_t end) {
  const Event whole = release(stage, request);
  const auto wait_for = [&](std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    Event rest = whole;
    rest.offset = from;
    rest.length = rest.result = to - from;
    wait(stage, rest);
  };
  wait_for(whole.offset, begin);
  wait_for(end, event_end(whole));
}

void BlockRequests::give_up_earliest() {
  const auto [stage, request] = starts_.begin()->second;
  ++unfinished_;
  put_(release(*stage, request));
}

void BlockRequests::finish() {
  while (!starts_.empty()) give_up_earliest();
}

std::int64_t BlockRequests::horizon() const {
  return starts_.empty() ? std::numeric_limits<std::int64_t>::max() : starts_.begin()->first;
}

}  // namespace plait::trace
