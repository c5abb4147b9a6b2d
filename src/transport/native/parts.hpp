/// The rest of a sequence of memory parts that are being sent or received.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::transport::native {

/// The parts are `first`, followed by `others`.  A system call transfers as many as fit into one iovec array.
template <typename Byte>
class Parts {
 public:
  Parts(std::span<Byte> first, std::span<const std::span<Byte>> others) : first_(first), others_(others) {}

  std::uint64_t bytes() const {
    std::uint64_t sum = first_.size() - done_;
    for (const auto& part : others_) sum += part.size();
    return sum;
  }
  /// Sets a message to the next parts.  Returns false if none is left.
  bool fill(msghdr& message) {
    std::size_t count = 0;
    const auto add = [&](std::span<Byte> part) {
      // const_cast: memory of type const is only sent.
      if (!part.empty())
        vector_[count++] = {const_cast<std::byte*>(static_cast<const std::byte*>(part.data())), part.size()};
    };
    add(first_.subspan(done_));
    for (std::size_t i = 0; i < others_.size() && count < vector_.size(); ++i) add(others_[i]);
    message.msg_iov = vector_.data();
    message.msg_iovlen = count;
    return count > 0;
  }
  /// Records that `bytes` more bytes have been transferred.
  void done(std::size_t bytes) {
    done_ += bytes;
    while (done_ >= first_.size() && !others_.empty()) {
      done_ -= first_.size();
      first_ = others_.front();
      others_ = others_.subspan(1);
    }
  }

 private:
  std::span<Byte> first_;
  std::span<const std::span<Byte>> others_;
  std::size_t done_ = 0;            // transferred bytes of first_
  std::array<iovec, 64> vector_{};  // there may be thousands of parts, but most are long
};

}  // namespace plait::transport::native
