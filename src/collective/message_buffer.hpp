/// A buffer for messages between nodes, which may outlive an abandoned wait for them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// A buffer of a message. If a wait for messages was abandoned because a process left, MPI may still write arriving
/// messages into the buffer after it is destroyed. Its memory then stays allocated until the process ends.
class MessageBuffer {
 public:
  explicit MessageBuffer(const transport::Transport& transport) : transport_(transport) {}
  ~MessageBuffer() {
    if (bytes_ && transport_.messages_abandoned()) base::leak(bytes_.release());
  }
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;

  /// Allocates the memory. Called once, before any message.
  void allocate(std::size_t bytes) { bytes_ = std::make_unique<std::vector<std::byte>>(bytes); }
  std::size_t size() const { return bytes_ ? bytes_->size() : 0; }
  std::byte* data() { return bytes_ ? bytes_->data() : nullptr; }
  std::span<std::byte> first(std::size_t bytes) { return {data(), bytes}; }

 private:
  const transport::Transport& transport_;
  std::unique_ptr<std::vector<std::byte>> bytes_;
};

}  // namespace plait::collective
