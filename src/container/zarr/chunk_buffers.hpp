/// Buffers for whole chunks, one set for each thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codec/buffer.hpp"

namespace plait::container::zarr {

struct ChunkBuffers {
  codec::Buffer plain;                                  ///< a chunk as the array has it
  codec::Buffer transposed;                             ///< a chunk in the stored order of its dimensions
  std::vector<std::unique_ptr<codec::Buffer>> encoded;  ///< buffers that no read uses

  static ChunkBuffers& of_thread() {
    thread_local ChunkBuffers buffers;
    return buffers;
  }
};

/// A buffer for compressed bytes. When it is released, the memory returns to the set of the thread for the next use.
class EncodedBuffer {
 public:
  EncodedBuffer() = default;
  ~EncodedBuffer() { release(); }
  EncodedBuffer(const EncodedBuffer&) = delete;
  EncodedBuffer& operator=(const EncodedBuffer&) = delete;

  std::span<std::byte> acquire(std::size_t bytes) {
    std::vector<std::unique_ptr<codec::Buffer>>& unused = ChunkBuffers::of_thread().encoded;
    if (!buffer_ && !unused.empty()) {
      buffer_ = std::move(unused.back());
      unused.pop_back();
    }
    if (!buffer_) buffer_ = std::make_unique<codec::Buffer>();
    return bytes_ = buffer_->acquire(bytes);
  }
  /// Returns the last result of acquire().
  std::span<const std::byte> bytes() const { return bytes_; }
  void release() noexcept {
    if (!buffer_) return;
    try {
      ChunkBuffers::of_thread().encoded.push_back(std::move(buffer_));
    } catch (...) {  // no memory for the list: the buffer is freed
    }
    buffer_ = nullptr;
    bytes_ = {};
  }

 private:
  std::unique_ptr<codec::Buffer> buffer_;
  std::span<std::byte> bytes_;
};

}  // namespace plait::container::zarr
