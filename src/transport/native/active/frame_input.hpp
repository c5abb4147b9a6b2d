/// Cuts what comes on a connection into frames, whose bodies go straight to where they are wanted.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/native/active/wire.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// Who takes frames.
class FrameTaker {
 public:
  virtual ~FrameTaker() = default;
  /// How many bytes of a frame's body come in one piece, at most kMaxPrefix; none: there is no such frame.
  virtual std::optional<std::size_t> prefix_bytes(const FrameHead& head) = 0;
  /// A frame has begun to come.  Returns where the rest of its body is to be put, as long as that is; none: that is
  /// told later, by FrameInput::resume.
  virtual std::optional<std::span<std::byte>> begun(const FrameHead& head, std::span<const std::byte> prefix) = 0;
  /// It is there as a whole.
  virtual void whole(const FrameHead& head) = 0;
};

/// threads  One at a time.
class FrameInput {
 public:
  enum class Outcome : std::uint8_t {
    kMore,     ///< the next bytes may come
    kStalled,  ///< resume() comes first
    kWrong,    ///< these are no frames of active messages
  };

  /// Where the next bytes are to be put: first here, then there.
  std::array<iovec, 2> input_space();
  /// So many bytes of input_space() have been filled.
  Outcome took(std::size_t bytes, FrameTaker& taker);
  /// Where the rest of the body is to be put that was begun last.
  Outcome resume(std::span<std::byte> rest, FrameTaker& taker);

  /// Puts what is still to come of the body of the frame of this tag into other memory of the same size.
  void redirect(std::uint64_t tag, std::span<std::byte> body) {
    if (state_ == State::kRest && head_.tag == tag) rest_ = body.last(rest_.size());
  }

 private:
  enum class State : std::uint8_t { kHead, kPrefix, kRest, kStalled };

  Outcome go_on(FrameTaker& taker);
  bool take_rest(std::span<std::byte> rest, FrameTaker& taker);
  std::span<const std::byte> there() const { return std::span(scratch_).subspan(begin_, end_ - begin_); }

  State state_ = State::kHead;
  FrameHead head_;
  std::size_t prefix_ = 0;
  std::span<std::byte> rest_;  // what is to come of it
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<std::byte, 2 * kMaxPrefix> scratch_;  // what has come, and has nowhere to go yet
};

}  // namespace plait::transport::native
