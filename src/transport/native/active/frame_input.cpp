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

FrameInput::Outcome FrameInput::took(std::size_t bytes, FrameTaker& taker) {
  const std::size_t straight = std::min(bytes, rest_.size());
  rest_ = rest_.subspan(straight);
  end_ += bytes - straight;
  if (state_ == State::kRest) {
    if (!rest_.empty()) return Outcome::kMore;
    state_ = State::kHead;
    taker.whole(head_);
  }
  return state_ == State::kStalled ? Outcome::kStalled : go_on(taker);
}

FrameInput::Outcome FrameInput::resume(std::span<std::byte> rest, FrameTaker& taker) {
  if (!take_rest(rest, taker)) return Outcome::kWrong;
  return go_on(taker);
}

/// Copies the buffered part of a body.
bool FrameInput::take_rest(std::span<std::byte> rest, FrameTaker& taker) {
  if (rest.size() != head_.bytes - prefix_) return false;
  const auto some = there().first(std::min(there().size(), rest.size()));
  std::copy(some.begin(), some.end(), rest.begin());
  begin_ += some.size();
  rest_ = rest.subspan(some.size());
  state_ = rest_.empty() ? State::kHead : State::kRest;
  if (rest_.empty()) taker.whole(head_);
  return true;
}

FrameInput::Outcome FrameInput::go_on(FrameTaker& taker) {
  while (state_ != State::kRest) {
    if (state_ == State::kHead) {
      if (there().size() < sizeof head_) return Outcome::kMore;
      std::memcpy(&head_, there().data(), sizeof head_);
      begin_ += sizeof head_;
      const auto prefix = taker.prefix_bytes(head_);
      if (!prefix || *prefix > std::min<std::uint64_t>(head_.bytes, kMaxPrefix)) return Outcome::kWrong;
      prefix_ = *prefix;
      state_ = State::kPrefix;
    }
    if (there().size() < prefix_) return Outcome::kMore;
    const auto prefix = there().first(prefix_);
    begin_ += prefix_;
    // This is set before the call, because the answer may arrive on another thread at once.
    state_ = State::kStalled;
    const auto rest = taker.begun(head_, prefix);
    if (!rest) return Outcome::kStalled;
    if (!take_rest(*rest, taker)) return Outcome::kWrong;
  }
  return Outcome::kMore;
}

}  // namespace plait::transport::native
