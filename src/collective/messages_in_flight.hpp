/// Messages in one direction, of which a bounded number is under way.
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

/// Buffers of messages, each with the ticket of its message and a note that the caller attaches to it. A note can be
/// copied.
template <typename Note, int kMax>
class MessagesInFlight {
 public:
  explicit MessagesInFlight(const transport::Transport& transport) {
    for (auto& slot : slots_) slot.emplace(transport);
  }

  /// Allocates `count` buffers of this size.  Called once, before any message.
  /// pre     count <= kMax.
  void allocate(int count, std::size_t bytes) {
    max_ = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < max_; ++i) slots_[i]->buffer.allocate(bytes);
  }
  std::size_t size() const { return max_ * slots_[0]->buffer.size(); }
  bool any() const {
    for (const auto& slot : slots_)
      if (slot->ticket || slot->arrived) return true;
    return false;
  }

  /// Calls `start(bytes of a buffer)`, which returns a ticket, if a buffer is free.  Returns false if none is.
  template <typename Start>
  bool start(const Note& note, std::size_t bytes, Start&& start) {
    for (std::size_t i = 0; i < max_; ++i) {
      auto& slot = slots_[i];
      if (slot->ticket || slot->arrived) continue;
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
    bool taken = false;
    for (auto& slot : slots_) {
      if (slot->ticket && slot->ticket->test()) {
        slot->ticket = nullptr;
        slot->arrived = true;
      }
      if (!slot->arrived || !end(slot->note, slot->buffer.data())) continue;
      slot->arrived = false;
      taken = true;
    }
    return taken;
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
    bool arrived = false;  // the message has arrived and was not taken
    Note note{};
  };
  std::array<std::optional<Slot>, kMax> slots_;
  std::size_t max_ = 0;  // buffers in use
};

}  // namespace plait::collective
