// The requests of one program, with adjacent ones joined.
//
// Example: aggregate = 8 KiB, two reads of 4 KiB at 0 and at 4 KiB, and 1 ms of computing between them. They become
// one read of 8 KiB, and the program computes 1 ms after it. Two such writes become one write of 8 KiB after the
// computing, because a program cannot write data that it has not computed yet.

#include "simulation/replay/request_cursor.hpp"

#include <utility>

namespace plait::simulation {

using trace::Kind;

RequestCursor::RequestCursor(const Recording& recording, std::size_t program, std::int64_t aggregate)
    : recording_(recording), program_(recording.programs()[program]), aggregate_(aggregate) {}

bool RequestCursor::read_next(Request& request) {
  while (true) {
    if (next_in_chunk_ == requests_.size()) {
      if (next_chunk_ == program_.chunks.size()) return false;
      recording_.spool().read(program_.chunks[next_chunk_++], requests_);
      next_in_chunk_ = 0;
      continue;
    }
    request = requests_[next_in_chunk_++];
    const bool transfer = request.kind == Kind::kRead || request.kind == Kind::kWrite;
    if (transfer && request.logical != program_.logical) continue;
    // A replay of device requests takes the gaps between them, which already include the time before other calls.
    if (!transfer && !program_.logical && request.kind != Kind::kExit) request.think = request.pause = 0;
    request.think += std::exchange(pending_think_, 0);
    request.pause += std::exchange(pending_pause_, 0);
    return true;
  }
}

Request RequestCursor::next() {
  Request request;
  if (has_peeked_) {
    request = peeked_;
    has_peeked_ = false;
  } else if (!read_next(request)) {
    return {};
  }
  const bool transfer = request.kind == Kind::kRead || request.kind == Kind::kWrite;
  if (aggregate_ == 0 || !transfer || request.group != 0) return request;
  while (read_next(peeked_)) {
    const bool follows = peeked_.kind == request.kind && peeked_.file == request.file && peeked_.group == 0 &&
                         peeked_.offset == request.offset + request.length &&
                         peeked_.asynchronous == request.asynchronous && peeked_.direct == request.direct &&
                         peeked_.durable == request.durable && request.length + peeked_.length <= aggregate_;
    if (!follows) {
      has_peeked_ = true;
      break;
    }
    request.length += peeked_.length;
    request.service += peeked_.service;
    // A joined read precedes the computing between its parts; a joined write follows it.
    if (request.kind == Kind::kRead) {
      pending_think_ += peeked_.think;
      pending_pause_ += peeked_.pause;
    } else {
      request.think += peeked_.think;
      request.pause += peeked_.pause;
    }
  }
  return request;
}

}  // namespace plait::simulation
