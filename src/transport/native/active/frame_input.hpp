/// Divides the bytes of a connection into frames, and receives their bodies directly into their destination.
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

/// Handles the frames that a FrameInput receives.
class FrameTaker {
 public:
  virtual ~FrameTaker() = default;
  /// Returns the number of bytes at the beginning of a body that on_begun() needs, at most kMaxPrefix: the prefix.
  /// Returns nothing if the frame is invalid.
  virtual std::optional<std::size_t> prefix_bytes(const FrameHead& head) = 0;
  /// Called when the head and the prefix of a frame have arrived.  Returns memory for the rest of the body, of exactly
  /// its length; nothing if FrameInput::resume() will provide the memory later.
  virtual std::optional<std::span<std::byte>> on_begun(const FrameHead& head, std::span<const std::byte> prefix) = 0;
  /// Called when the frame has arrived completely.
  virtual void on_complete(const FrameHead& head) = 0;
};

/// threads  One at a time.
class FrameInput {
 public:
  enum class Outcome : std::uint8_t {
    kMore,     ///< more bytes can be received
    kStalled,  ///< resume() must be called first
    kWrong,    ///< the bytes are not valid frames
  };

  /// Returns memory for the next bytes: the first area is filled first.
  std::array<iovec, 2> input_space();
  /// Processes `bytes` bytes that have been received into input_space().
  Outcome process_input(std::size_t bytes, FrameTaker& taker);
  /// Provides memory for the rest of the body for which on_begun() had none.
  Outcome resume(std::span<std::byte> rest, FrameTaker& taker);

  /// Receives the rest of the body of the frame with this tag into other memory of the same size, if that body is being
  /// received.
  void redirect(std::uint64_t tag, std::span<std::byte> body) {
    if (state_ == State::kRest && head_.tag == tag) rest_ = body.last(rest_.size());
  }

 private:
  /// The part of a frame that is expected next; kStalled: the rest of a body, for which there is no memory yet.
  enum class State : std::uint8_t { kHead, kPrefix, kRest, kStalled };

  Outcome parse(FrameTaker& taker);
  bool begin_rest(std::span<std::byte> rest, FrameTaker& taker);
  std::span<const std::byte> buffered() const { return std::span(scratch_).subspan(begin_, end_ - begin_); }

  State state_ = State::kHead;
  FrameHead head_;
  std::size_t prefix_bytes_ = 0;
  std::span<std::byte> rest_;  // destination of the bytes of the body that have not arrived
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<std::byte, 2 * kMaxPrefix> scratch_;  // received bytes without a destination: from begin_ to end_
};

}  // namespace plait::transport::native
