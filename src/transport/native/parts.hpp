/// What is left of parts of memory that go through a socket one after the other.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::transport::native {

/// The first part, and then the others, of which the system takes some at a time.
template <typename Byte>
class Parts {
 public:
  Parts(std::span<Byte> first, std::span<const std::span<Byte>> others) : first_(first), others_(others) {}

  std::uint64_t bytes() const {
    std::uint64_t sum = first_.size() - done_;
    for (const auto& part : others_) sum += part.size();
    return sum;
  }
  /// Puts what is next into a message.  Returns whether anything is left.
  bool fill(msghdr& message) {
    std::size_t count = 0;
    const auto add = [&](std::span<Byte> part) {
      // The system only reads what is const.
      if (!part.empty())
        vector_[count++] = {const_cast<std::byte*>(static_cast<const std::byte*>(part.data())), part.size()};
    };
    add(first_.subspan(done_));
    for (std::size_t i = 0; i < others_.size() && count < vector_.size(); ++i) add(others_[i]);
    message.msg_iov = vector_.data();
    message.msg_iovlen = count;
    return count > 0;
  }
  /// So many bytes more have gone.
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
  std::size_t done_ = 0;            // of the first
  std::array<iovec, 64> vector_{};  // of thousands of parts; a part is most often many bytes long
};

}  // namespace plait::transport::native
