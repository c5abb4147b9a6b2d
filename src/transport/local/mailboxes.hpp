/// Messages between the processes of a node: they are sent in parts through a mailbox of the receiver.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transport/gates.hpp"
#include "transport/transport.hpp"

namespace plait::transport::local {

/// The mailbox of one process, in memory that all processes map; its initial state is all zero.  One mailbox for each
/// process, not one for each pair, so that the shared memory for messages grows only in proportion to the processes.
struct alignas(64) Mailbox {
  static constexpr std::int64_t kPart = std::int64_t{64} << 10;
  // rank + 1 of the sender while a part is being written or waits for the receiver; otherwise 0
  std::atomic<std::uint32_t> writer{0};
  std::atomic<std::uint32_t> filled{0};  // number of parts written so far
  // The current part:
  std::int32_t from = 0;     // rank of the sender
  std::int32_t is_last = 0;  // 1 if this is the last part of a message
  std::int64_t bytes = 0;
  std::array<std::byte, kPart> part{};
};

/// The messages of one process.  A process that waits for one message makes progress with all of its messages: those
/// for which there is no receive() yet are stored in private memory, so that no mailbox stays full.
class Mailboxes {
 public:
  /// `mailboxes` are those of all processes, by their ranks; `rank` is that of this process.
  Mailboxes(Mailbox* mailboxes, int rank, Liveness& liveness)
      : mailboxes_(mailboxes), rank_(rank), liveness_(liveness) {}
  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes);
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes);

 private:
  template <typename Message>
  class MessageTicket;

  struct PendingSend {
    std::span<const std::byte> unsent;
    bool is_done = false;
  };
  struct PendingReceive {
    std::span<std::byte> output;  // memory for the bytes that have not arrived
    bool is_dropped = false;      // the bytes are discarded
    bool is_done = false;
  };
  struct UnexpectedMessage {
    std::vector<std::byte> bytes;
    bool is_complete = false;
  };
  /// The messages from one process.
  struct IncomingMessages {
    std::deque<std::shared_ptr<PendingReceive>> expected;
    std::deque<UnexpectedMessage> unexpected;  // messages without a receive(); only the last one may be incomplete
  };

  /// Detach a message from the memory of the caller, whose ticket has been destroyed.
  static void drop(PendingSend& sending) { sending.unsent = {}; }
  static void drop(PendingReceive& receiving) { receiving.is_dropped = true; }
  static void deliver(PendingReceive& receiving, std::span<const std::byte> part, bool is_last);
  void wait(const bool& is_done);
  /// Writes parts into free mailboxes of other processes.  Returns true if any was written.
  bool send_parts();
  bool send_part(int to, PendingSend& sending);
  /// Takes the part out of this process's mailbox.  Returns true if there was one.
  bool receive_part();

  Mailbox* mailboxes_;
  int rank_;
  Liveness& liveness_;
  std::uint32_t received_parts_ = 0;
  std::map<int, std::deque<std::shared_ptr<PendingSend>>> outgoing_;  // messages that have not been sent completely
  std::map<int, IncomingMessages> incoming_;
};

}  // namespace plait::transport::local
