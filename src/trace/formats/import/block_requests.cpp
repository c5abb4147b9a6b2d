#include "trace/formats/import/block_requests.hpp"

#include <cstddef>
#include <limits>
#include <utility>

namespace plait::trace {

namespace {

// A trace with only queued requests completes none of them: at most this many wait, then the earliest is emitted.
constexpr std::size_t kMostWaiting = 1 << 16;

std::int64_t end_of(const Event& event) { return event.offset + event.length; }

}  // namespace

void BlockRequests::take(Action action, const Event& event) {
  if (action == Action::kQueued) return wait(queued_, event);
  if (action == Action::kIssued) {
    release_queued(event);
    return wait(issued_, event);
  }
  Requests& issued = issued_[{event.file, event.kind}];
  const auto begun = issued.find(event.offset);
  if (action == Action::kRequeued) {
    if (begun != issued.end()) release(issued_, begun);
    return wait(queued_, event);
  }
  Requests& queued = queued_[{event.file, event.kind}];
  const auto asked = queued.find(event.offset);
  Event request = event;
  if (begun != issued.end())
    request.start = release(issued_, begun).start;
  else if (asked != queued.end())
    request.start = asked->second.event.start;
  if (begun == issued.end()) release_queued(event);
  if (request.start != event.start) request.duration = event.start - request.start;
  put_(request);
}

void BlockRequests::wait(Stage& stage, const Event& event) {
  if (starts_.size() >= kMostWaiting) give_up_earliest();
  const auto request = stage[{event.file, event.kind}].emplace(event.offset, Waiting{event, {}});
  request->second.start = starts_.emplace(event.start, std::pair{&stage, request});
}

Event BlockRequests::release(Stage& stage, Requests::iterator request) {
  const Event event = request->second.event;
  starts_.erase(request->second.start);
  stage[{event.file, event.kind}].erase(request);
  return event;
}

// Queued requests for bytes of an issued request were merged into it; removes one of them at each offset.
void BlockRequests::release_queued(const Event& event) {
  Requests& requests = queued_[{event.file, event.kind}];
  auto one = requests.lower_bound(event.offset);
  while (one != requests.end() && (one->first < end_of(event) || one->first == event.offset)) {
    const std::int64_t offset = one->first;
    release(queued_, one);
    one = requests.upper_bound(offset);
  }
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
