/// A sequence of memory parts that are being sent or received: those that remain.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::transport::native {

/// The parts are `first`, followed by `others`.  Each system call gets as many of them as fit into one iovec array, and
/// may transfer any number of bytes.  Example: parts of 24 and 1000 bytes.  fill() describes both; sendmsg() accepts
/// 500 bytes; after advance(500), fill() describes the last 524 bytes of the second part.
template <typename Byte>
class Parts {
 public:
  Parts(std::span<Byte> first, std::span<const std::span<Byte>> others) : first_(first), others_(others) {}

  /// Returns the number of bytes that have not been transferred.
  std::uint64_t bytes() const {
    std::uint64_t sum = first_.size() - first_done_;
    for (const auto& part : others_) sum += part.size();
    return sum;
  }
  /// Makes a message describe the next parts.  Returns false if none remains.
  bool fill(msghdr& message) {
    std::size_t count = 0;
    const auto add = [&](std::span<Byte> part) {
      // const_cast: memory of type const is only sent.
      if (!part.empty())
        vector_[count++] = {const_cast<std::byte*>(static_cast<const std::byte*>(part.data())), part.size()};
    };
    add(first_.subspan(first_done_));
    for (std::size_t i = 0; i < others_.size() && count < vector_.size(); ++i) add(others_[i]);
    message.msg_iov = vector_.data();
    message.msg_iovlen = count;
    return count > 0;
  }
  /// Records that `bytes` more bytes have been transferred.
  void advance(std::size_t bytes) {
    first_done_ += bytes;
    while (first_done_ >= first_.size() && !others_.empty()) {
      first_done_ -= first_.size();
      first_ = others_.front();
      others_ = others_.subspan(1);
    }
  }

 private:
  std::span<Byte> first_;
  std::span<const std::span<Byte>> others_;
  std::size_t first_done_ = 0;      // transferred bytes of first_
  std::array<iovec, 64> vector_{};  // there may be thousands of parts, but most are long
};

}  // namespace plait::transport::native
