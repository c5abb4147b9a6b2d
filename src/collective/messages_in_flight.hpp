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

/// Buffers of messages with their tickets, and with a note of the caller about each.
/// Note  A value that can be copied.
template <typename Note, int kMax>
class MessagesInFlight {
 public:
  explicit MessagesInFlight(const transport::Transport& transport) {
    for (auto& slot : slots_) slot.emplace(transport);
  }

  /// Allocates `most` buffers of this size.  Called once, before any message. pre most <= kMax
  void allocate(int most, std::size_t bytes) {
    max_ = static_cast<std::size_t>(most);
    for (std::size_t i = 0; i < max_; ++i) slots_[i]->buffer.allocate(bytes);
  }
  std::size_t size() const { return max_ * slots_[0]->buffer.size(); }
  bool any() const {
    for (const auto& slot : slots_)
      if (slot->ticket || slot->come) return true;
    return false;
  }

  /// Calls `start(bytes of a buffer)`, which returns a ticket, if a buffer is free.  Returns false if none is.
  template <typename Start>
  bool start(const Note& note, std::size_t bytes, Start&& start) {
    for (std::size_t i = 0; i < max_; ++i) {
      auto& slot = slots_[i];
      if (slot->ticket || slot->come) continue;
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
        slot->come = true;
      }
      if (!slot->come || !end(slot->note, slot->buffer.data())) continue;
      slot->come = false;
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
    bool come = false;  // arrived and not taken
    Note note{};
  };
  std::array<std::optional<Slot>, kMax> slots_;
  std::size_t max_ = 0;  // buffers in use
};

}  // namespace plait::collective
