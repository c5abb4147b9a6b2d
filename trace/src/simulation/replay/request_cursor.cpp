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

bool RequestCursor::take(Request& request) {
  while (true) {
    if (at_ == requests_.size()) {
      if (chunk_ == program_.chunks.size()) return false;
      recording_.spool().read(program_.chunks[chunk_++], requests_);
      at_ = 0;
      continue;
    }
    request = requests_[at_++];
    const bool transfer = request.kind == Kind::kRead || request.kind == Kind::kWrite;
    if (transfer && request.logical != program_.logical) continue;
    // The gaps between device requests already include this time.
    if (!transfer && !program_.logical && request.kind != Kind::kExit) request.think = request.pause = 0;
    request.think += std::exchange(carried_, 0);
    request.pause += std::exchange(paused_, 0);
    return true;
  }
}

Request RequestCursor::next() {
  Request request;
  if (has_ahead_) {
    request = ahead_;
    has_ahead_ = false;
  } else if (!take(request)) {
    return {};
  }
  const bool transfer = request.kind == Kind::kRead || request.kind == Kind::kWrite;
  if (aggregate_ == 0 || !transfer || request.group != 0) return request;
  while (take(ahead_)) {
    const bool follows = ahead_.kind == request.kind && ahead_.file == request.file && ahead_.group == 0 &&
                         ahead_.offset == request.offset + request.length &&
                         ahead_.asynchronous == request.asynchronous && ahead_.direct == request.direct &&
                         ahead_.durable == request.durable && request.length + ahead_.length <= aggregate_;
    if (!follows) {
      has_ahead_ = true;
      break;
    }
    request.length += ahead_.length;
    request.service += ahead_.service;
    // A joined read precedes the computing between its parts; a joined write follows it.
    if (request.kind == Kind::kRead) {
      carried_ += ahead_.think;
      paused_ += ahead_.pause;
    } else {
      request.think += ahead_.think;
      request.pause += ahead_.pause;
    }
  }
  return request;
}

}  // namespace plait::simulation
