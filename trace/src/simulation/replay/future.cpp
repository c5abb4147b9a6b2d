// The next use of each block, for policies that look ahead in a replay.
//
// Problem: the order in which programs make their requests depends on the replay itself, so the future is not known
// exactly.
//
// Idea: before the replay, a pass numbers all uses in the recorded order and links the uses of each block. During it,
// `is_past_` marks uses that have happened. The next use of a block is the first unmarked one in its list.
//
// Example: program 0 uses block A (use 0), then program 1 does (use 1). If program 1 is first in the replay, use 1 is
// marked, and next_use(A) is 0. After program 0 both are marked, and next_use(A) is kNever.

#include "simulation/replay/future.hpp"

#include <queue>
#include <tuple>
#include <utility>

#include "base/errors.hpp"

namespace plait::simulation {

Future::Future(const Recording& recording, std::int64_t aggregate, std::int64_t block)
    : block_(block), programs_(recording.programs().size()) {
  struct PendingRequest {
    Time time;
    std::uint32_t program;
    bool operator<(const PendingRequest& other) const {  // the earliest request is on top of the queue
      return std::tie(time, program) > std::tie(other.time, other.program);
    }
  };
  std::vector<RequestCursor> cursors;
  std::vector<Request> requests;
  std::priority_queue<PendingRequest> pending;
  const auto push_next_request = [&](std::uint32_t program, Time from) {
    const Request& request = requests[program] = cursors[program].next();
    if (request.kind != trace::Kind::kExit) pending.push({from + request.pause + request.think, program});
  };
  requests.resize(programs_.size());
  for (std::uint32_t program = 0; program < programs_.size(); ++program) {
    cursors.emplace_back(recording, program, aggregate);
    push_next_request(program, recording.programs()[program].start);
  }
  while (!pending.empty()) {
    const auto [time, program] = pending.top();
    pending.pop();
    const Request& request = requests[program];
    if (uses_cache(request)) add_request(program, request);
    push_next_request(program, time + request.service);
  }
  is_past_.assign(next_use_.size(), false);
  last_use_ = {};
}

void Future::add_request(std::uint32_t program, const Request& request) {
  const auto first = static_cast<std::int64_t>(next_use_.size());
  const auto end = static_cast<std::uint64_t>((request.offset + request.length + block_ - 1) / block_);
  for (auto block = static_cast<std::uint64_t>(request.offset / block_); block < end; ++block)
    add_use({block, request.file});
  programs_[program].requests.push_back(
      {first, static_cast<std::uint32_t>(next_use_.size() - static_cast<std::size_t>(first))});
}

void Future::add_use(BlockKey key) {
  const auto number = static_cast<std::int64_t>(next_use_.size());
  next_use_.push_back(kNever);
  const Slot block_number = numbers_.find(key);
  if (block_number != kNoSlot) {
    next_use_[static_cast<std::size_t>(std::exchange(last_use_[block_number], number))] = number;
    return;
  }
  if (first_future_use_.size() >= kNoSlot - 1)
    base::throw_argument_error(
        "the trace uses more than 4294967294 blocks; policies that look ahead take fewer, so give larger blocks");
  numbers_.insert(key, static_cast<Slot>(first_future_use_.size()));
  first_future_use_.push_back(number);
  last_use_.push_back(number);
}

void Future::mark_next_request(std::uint32_t program) {
  Program& state = programs_[program];
  const auto [first, count] = state.requests[state.marked_requests++];
  for (std::uint32_t k = 0; k < count; ++k) is_past_[static_cast<std::size_t>(first) + k] = true;
}

std::int64_t Future::next_use(BlockKey key) {
  const Slot block_number = numbers_.find(key);
  if (block_number == kNoSlot) return kNever;
  std::int64_t& future_use = first_future_use_[block_number];
  while (future_use != kNever && is_past_[static_cast<std::size_t>(future_use)])
    future_use = next_use_[static_cast<std::size_t>(future_use)];
  return future_use;
}

}  // namespace plait::simulation
