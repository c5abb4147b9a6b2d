/// Cuts what a server receives into frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// Frames that came whole are delivered from where they were received; of others the body is kept, at most
/// kMaxReceive bytes.
class FrameReader {
 public:
  enum class Outcome : std::uint8_t {
    kMore,     ///< all that came was taken
    kTooLong,  ///< a frame is longer than may be sent: nothing behind it can be read
    kStopped,  ///< deliver() said so
  };

  /// Where the next bytes are to be put: `common`, or behind those of a body that has begun to come.
  std::span<std::byte> input_space(std::span<std::byte> common) {
    return body_ ? std::span(body_.get() + filled_, head_.bytes - filled_) : common;
  }
  /// `came` is the beginning of input_space().  Calls deliver(head, body) for each whole frame, and stops if that
  /// returns false.
  template <typename Deliver>
  Outcome took(std::span<const std::byte> came, Deliver&& deliver) {
    if (body_) {
      filled_ += came.size();
      if (filled_ < head_.bytes) return Outcome::kMore;
      const auto body = std::move(body_);
      filled_ = 0;
      return deliver(head_, std::span<const std::byte>(body.get(), head_.bytes)) ? Outcome::kMore : Outcome::kStopped;
    }
    while (!came.empty()) {
      const std::size_t more = std::min(came.size(), sizeof head_ - filled_);
      std::memcpy(reinterpret_cast<std::byte*>(&head_) + filled_, came.data(), more);
      filled_ += more;
      came = came.subspan(more);
      if (filled_ < sizeof head_) return Outcome::kMore;
      if (head_.bytes > kMaxReceive) return Outcome::kTooLong;
      if (came.size() < head_.bytes) {
        body_ = std::make_unique_for_overwrite<std::byte[]>(head_.bytes);
        filled_ = came.size();
        if (!came.empty()) std::memcpy(body_.get(), came.data(), came.size());
        return Outcome::kMore;
      }
      filled_ = 0;
      const auto body = came.first(head_.bytes);
      came = came.subspan(head_.bytes);
      if (!deliver(head_, body)) return Outcome::kStopped;
    }
    return Outcome::kMore;
  }

 private:
  FrameHead head_;
  std::size_t filled_ = 0;             // of the body where there is one, else of the head
  std::unique_ptr<std::byte[]> body_;  // of a frame that is not whole
};

}  // namespace plait::transport::native
