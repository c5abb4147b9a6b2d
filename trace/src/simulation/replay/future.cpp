// The next use of each block, for policies that look ahead in a replay.
//
// Problem: the order in which programs make their requests depends on the replay itself, so the future is not known
// exactly.
//
// Idea: a first pass numbers all uses in the recorded order and links the uses of each block. During the replay
// `made_` marks uses that have happened. The next use of a block is the first unmarked one in its list.
//
// Example: program 0 uses block A (use 0), then program 1 does (use 1). If program 1 is first in the replay, use 1 is
// marked, and next(A) is 0. After program 0 both are marked, and next(A) is kNever.

#include "simulation/replay/future.hpp"

#include <queue>
#include <tuple>
#include <utility>

#include "base/errors.hpp"

namespace plait::simulation {

Future::Future(const Recording& recording, std::int64_t aggregate, std::int64_t block)
    : block_(block), programs_(recording.programs().size()) {
  struct Turn {
    Time time;
    std::uint32_t program;
    bool operator<(const Turn& other) const {  // the earliest turn is on top
      return std::tie(time, program) > std::tie(other.time, other.program);
    }
  };
  std::vector<RequestCursor> cursors;
  std::vector<Request> requests;
  std::priority_queue<Turn> turns;
  const auto go_on = [&](std::uint32_t program, Time from) {
    const Request& request = requests[program] = cursors[program].next();
    if (request.kind != trace::Kind::kExit) turns.push({from + request.pause + request.think, program});
  };
  requests.resize(programs_.size());
  for (std::uint32_t program = 0; program < programs_.size(); ++program) {
    cursors.emplace_back(recording, program, aggregate);
    go_on(program, recording.programs()[program].start);
  }
  while (!turns.empty()) {
    const auto [time, program] = turns.top();
    turns.pop();
    const Request& request = requests[program];
    if (uses_cache(request)) add(program, request);
    go_on(program, time + request.service);
  }
  made_.assign(next_.size(), false);
  last_ = {};
}

void Future::add(std::uint32_t program, const Request& request) {
  const auto first = static_cast<std::int64_t>(next_.size());
  const auto end = static_cast<std::uint64_t>((request.offset + request.length + block_ - 1) / block_);
  for (auto block = static_cast<std::uint64_t>(request.offset / block_); block < end; ++block)
    use({block, request.file});
  programs_[program].requests.push_back(
      {first, static_cast<std::uint32_t>(next_.size() - static_cast<std::size_t>(first))});
}

void Future::use(BlockKey key) {
  const auto number = static_cast<std::int64_t>(next_.size());
  next_.push_back(kNever);
  const Slot block_number = numbers_.find(key);
  if (block_number != kNoSlot) {
    next_[static_cast<std::size_t>(std::exchange(last_[block_number], number))] = number;
    return;
  }
  if (ahead_.size() >= kNoSlot - 1)
    base::throw_argument_error(
        "the trace uses more than 4294967294 blocks; policies that look ahead take fewer, so give larger blocks");
  numbers_.insert(key, static_cast<Slot>(ahead_.size()));
  ahead_.push_back(number);
  last_.push_back(number);
}

void Future::make(std::uint32_t program) {
  Program& state = programs_[program];
  const auto [first, count] = state.requests[state.made++];
  for (std::uint32_t k = 0; k < count; ++k) made_[static_cast<std::size_t>(first) + k] = true;
}

std::int64_t Future::next(BlockKey key) {
  const Slot block_number = numbers_.find(key);
  if (block_number == kNoSlot) return kNever;
  std::int64_t& ahead = ahead_[block_number];
  while (ahead != kNever && made_[static_cast<std::size_t>(ahead)]) ahead = next_[static_cast<std::size_t>(ahead)];
  return ahead;
}

}  // namespace plait::simulation
