/// Reusable buffers whose memory is mapped directly from the system.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>

namespace plait::codec {

/// A buffer that grows and is reused; growing discards its content. It is mapped directly, so that its memory returns
/// to the system: each access starts and ends threads, and the allocator would hold freed memory in an arena for each
/// of them.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Returns the first `bytes` bytes, with any content.
  std::span<std::byte> acquire(std::size_t bytes) {
    if (bytes > bytes_) {
      release();  // before the new mapping, so that only one exists at a time
      void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      memory_ = static_cast<std::byte*>(memory);
      bytes_ = bytes;
    }
    return {memory_, bytes};
  }

 private:
  void release() noexcept {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
    memory_ = nullptr;
    bytes_ = 0;
  }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace plait::codec
