/// Divides the bytes that a server receives into frames.
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

/// A frame that arrives in one piece is delivered from the receive buffer.  If only a part of a body has arrived,
/// memory for the whole body is allocated, at most kMaxReceive bytes.
class FrameReader {
 public:
  enum class Outcome : std::uint8_t {
    kMore,     ///< all bytes were processed
    kTooLong,  ///< a frame is longer than kMaxReceive, so the frames after it cannot be read
    kStopped,  ///< deliver() returned false
  };

  /// Returns memory for the next bytes: the rest of a body that has arrived in part, otherwise `common`, a buffer that
  /// all connections share.
  std::span<std::byte> input_space(std::span<std::byte> common) {
    return body_ ? std::span(body_.get() + filled_, head_.bytes - filled_) : common;
  }
  /// Processes received bytes, which are at the beginning of input_space().  Calls deliver(head, body) for each
  /// complete frame, and stops if it returns false.
  template <typename Deliver>
  Outcome process_input(std::span<const std::byte> received, Deliver&& deliver) {
    if (body_) {
      filled_ += received.size();
      if (filled_ < head_.bytes) return Outcome::kMore;
      const auto body = std::move(body_);
      filled_ = 0;
      return deliver(head_, std::span<const std::byte>(body.get(), head_.bytes)) ? Outcome::kMore : Outcome::kStopped;
    }
    while (!received.empty()) {
      const std::size_t of_head = std::min(received.size(), sizeof head_ - filled_);
      std::memcpy(reinterpret_cast<std::byte*>(&head_) + filled_, received.data(), of_head);
      filled_ += of_head;
      received = received.subspan(of_head);
      if (filled_ < sizeof head_) return Outcome::kMore;
      if (head_.bytes > kMaxReceive) return Outcome::kTooLong;
      if (received.size() < head_.bytes) {
        body_ = std::make_unique_for_overwrite<std::byte[]>(head_.bytes);
        filled_ = received.size();
        if (!received.empty()) std::memcpy(body_.get(), received.data(), received.size());
        return Outcome::kMore;
      }
      filled_ = 0;
      const auto body = received.first(head_.bytes);
      received = received.subspan(head_.bytes);
      if (!deliver(head_, body)) return Outcome::kStopped;
    }
    return Outcome::kMore;
  }

 private:
  FrameHead head_;
  std::size_t filled_ = 0;             // received bytes of body_ if it is allocated, else of head_
  std::unique_ptr<std::byte[]> body_;  // body of an incomplete frame
};

}  // namespace plait::transport::native
