/// Messages one way, of which a bounded number is under way.
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

/// Buffers of messages with their tickets, and with what the caller notes about each.
/// Note  A value that can be copied.
template <typename Note, int kMost>
class MessagesInFlight {
 public:
  explicit MessagesInFlight(const transport::Transport& transport) {
    for (auto& slot : slots_) slot.emplace(transport);
  }

  /// Once, before anything is sent: `most` buffers of so many bytes each.  pre  most <= kMost
  void allocate(int most, std::size_t bytes) {
    most_ = static_cast<std::size_t>(most);
    for (std::size_t i = 0; i < most_; ++i) slots_[i]->buffer.allocate(bytes);
  }
  std::size_t size() const { return most_ * slots_[0]->buffer.size(); }
  bool any() const {
    for (const auto& slot : slots_)
      if (slot->ticket || slot->come) return true;
    return false;
  }

  /// Calls `start(bytes of a buffer)`, which gives a ticket, where there is a free buffer: whether there was one.
  template <typename Start>
  bool start(const Note& note, std::size_t bytes, Start&& start) {
    for (std::size_t i = 0; i < most_; ++i) {
      auto& slot = slots_[i];
      if (slot->ticket || slot->come) continue;
      slot->ticket = start(slot->buffer.first(bytes));
      slot->note = note;
      return true;
    }
    return false;
  }

  /// Calls `end(note, bytes)` for each message that has come: where it says so, its buffer is free again.  Whether
  /// there was such a one.
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

  /// The same where nothing is to be done with them, as with what was sent.
  bool release() {
    return take([](const Note&, const std::byte*) { return true; });
  }

 private:
  struct Slot {
    explicit Slot(const transport::Transport& transport) : buffer(transport) {}
    MessageBuffer buffer;  // stays where its ticket goes before its message has come
    std::unique_ptr<transport::Ticket> ticket;
    bool come = false;  // and not taken
    Note note{};
  };
  std::array<std::optional<Slot>, kMost> slots_;
  std::size_t most_ = 0;  // that are used
};

}  // namespace plait::collective
