/// A bounded number of messages in flight between nodes, in one direction, with their buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "collective/message_buffer.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// At most kMax messages.  Each has a buffer, a ticket by which the transport reports its end, and a note: any copyable
/// value that the caller attaches to the message, such as the number of the chunk that it contains.
template <typename Note, int kMax>
class MessagesInFlight {
 public:
  explicit MessagesInFlight(const transport::Transport& transport) {
    for (auto& slot : slots_) slot.emplace(transport);
  }

  /// Allocates `count` buffers of this size.  Called once, before any message.
  /// pre     count <= kMax.
  void allocate(int count, std::size_t bytes) {
    buffer_count_ = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < buffer_count_; ++i) slots_[i]->buffer.allocate(bytes);
  }
  /// Returns the number of bytes of all buffers.
  std::size_t size() const { return buffer_count_ * slots_[0]->buffer.size(); }
  /// Returns true if any buffer is in use.
  bool any() const {
    for (const auto& slot : slots_)
      if (slot->ticket || slot->has_arrived) return true;
    return false;
  }

  /// Calls `start(bytes of a buffer)`, which returns a ticket, if a buffer is free.  Returns false if none is.
  template <typename Start>
  bool start(const Note& note, std::size_t bytes, Start&& start) {
    for (std::size_t i = 0; i < buffer_count_; ++i) {
      auto& slot = slots_[i];
      if (slot->ticket || slot->has_arrived) continue;
      slot->ticket = start(slot->buffer.first(bytes));
      slot->note = note;
      return true;
    }
    return false;
  }

  /// Calls `end(note, bytes)` for each message that has arrived.  If `end` returns true, the buffer becomes free;
  /// otherwise the message is offered again in the next call.  Returns true if any buffer became free.
  template <typename End>
  bool take(End&& end) {
    bool is_any_freed = false;
    for (auto& slot : slots_) {
      if (slot->ticket && slot->ticket->test()) {
        slot->ticket = nullptr;
        slot->has_arrived = true;
      }
      if (!slot->has_arrived || !end(slot->note, slot->buffer.data())) continue;
      slot->has_arrived = false;
      is_any_freed = true;
    }
    return is_any_freed;
  }

  /// Frees the buffers of all messages that are complete, such as those that were sent.
  bool release() {
    return take([](const Note&, const std::byte*) { return true; });
  }

 private:
  struct Slot {
    explicit Slot(const transport::Transport& transport) : buffer(transport) {}
    MessageBuffer buffer;  // keeps its memory if the ticket is destroyed before its message has arrived
    std::unique_ptr<transport::Ticket> ticket;
    bool has_arrived = false;  // the message has arrived and was not taken
    Note note{};
  };
  std::array<std::optional<Slot>, kMax> slots_;
  std::size_t buffer_count_ = 0;  // buffers in use
};

}  // namespace plait::collective
