// Divides the bytes of a connection into frames, and receives bodies directly into their destination.
//
// A frame has a head, a prefix that is received into the scratch buffer, and the rest of its body. input_space() offers
// two areas to one recvmsg(): first the destination of the rest, then the scratch buffer. So the end of a body and the
// next head arrive with one system call, and only bytes that arrive before their destination is known are copied.
//
// Example: a kCall frame with a WireCall and a payload of 1 MB. Head, prefix and the first 3 KB of the payload arrive
// in the scratch buffer. on_begun() returns memory for the payload: 3 KB are copied there, and the rest is received
// directly. If on_begun() returns nothing, the input is stalled until resume() provides the memory.

#include "transport/native/active/frame_input.hpp"

#include <algorithm>
#include <cstring>

namespace plait::transport::native {

std::array<iovec, 2> FrameInput::input_space() {
  if (begin_ > 0) {
    std::memmove(scratch_.data(), scratch_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return {{{rest_.data(), rest_.size()}, {scratch_.data() + end_, scratch_.size() - end_}}};
}

FrameInput::Outcome FrameInput::process_input(std::size_t bytes, FrameTaker& taker) {
  const std::size_t direct = std::min(bytes, rest_.size());
  rest_ = rest_.subspan(direct);
  end_ += bytes - direct;
  if (state_ == State::kRest) {
    if (!rest_.empty()) return Outcome::kMore;
    state_ = State::kHead;
    taker.on_complete(head_);
  }
  return state_ == State::kStalled ? Outcome::kStalled : parse(taker);
}

FrameInput::Outcome FrameInput::resume(std::span<std::byte> rest, FrameTaker& taker) {
  if (!begin_rest(rest, taker)) return Outcome::kWrong;
  return parse(taker);
}

/// Sets the destination of the rest of a body, and copies the buffered part of it there.
bool FrameInput::begin_rest(std::span<std::byte> rest, FrameTaker& taker) {
  if (rest.size() != head_.bytes - prefix_bytes_) return false;
  const auto first_part = buffered().first(std::min(buffered().size(), rest.size()));
  std::copy(first_part.begin(), first_part.end(), rest.begin());
  begin_ += first_part.size();
  rest_ = rest.subspan(first_part.size());
  state_ = rest_.empty() ? State::kHead : State::kRest;
  if (rest_.empty()) taker.on_complete(head_);
  return true;
}

FrameInput::Outcome FrameInput::parse(FrameTaker& taker) {
  while (state_ != State::kRest) {
    if (state_ == State::kHead) {
      if (buffered().size() < sizeof head_) return Outcome::kMore;
      std::memcpy(&head_, buffered().data(), sizeof head_);
      begin_ += sizeof head_;
      const auto prefix = taker.prefix_bytes(head_);
      if (!prefix || *prefix > std::min<std::uint64_t>(head_.bytes, kMaxPrefix)) return Outcome::kWrong;
      prefix_bytes_ = *prefix;
      state_ = State::kPrefix;
    }
    if (buffered().size() < prefix_bytes_) return Outcome::kMore;
    const auto prefix = buffered().first(prefix_bytes_);
    begin_ += prefix_bytes_;
    // Set the state before the call, because another thread may call resume() at once.
    state_ = State::kStalled;
    const auto rest = taker.on_begun(head_, prefix);
    if (!rest) return Outcome::kStalled;
    if (!begin_rest(*rest, taker)) return Outcome::kWrong;
  }
  return Outcome::kMore;
}

}  // namespace plait::transport::native
