/// Memory that is not zeroed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace plait::codec {

/// Grows and is used again; what was in it goes then.
class Room {
 public:
  std::span<std::byte> of(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();  // before there is more
      bytes_ = 0;
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      bytes_ = bytes;
    }
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace plait::codec
