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

/// The mailbox of one process, in memory that all processes map; its initial state is all zero.  Its size limits the
/// shared memory for messages, for any number of processes.
struct alignas(64) Mailbox {
  static constexpr std::int64_t kPart = std::int64_t{64} << 10;
  // rank + 1 of the sender from the beginning of a part until it is taken out; else 0
  std::atomic<std::uint32_t> writer{0};
  std::atomic<std::uint32_t> filled{0};  // number of parts written so far
  std::int32_t from = 0;
  std::int32_t last = 0;  // 1 if this is the last part of a message
  std::int64_t bytes = 0;
  std::array<std::byte, kPart> part{};
};

/// The messages of one process.  A process that waits for one message makes progress with all of its messages:
/// unexpected ones are stored in memory of this process, so that no mailbox stays full.
class Mailboxes {
 public:
  /// `mailboxes` are those of all processes, by their ranks.
  Mailboxes(Mailbox* mailboxes, int rank, Liveness& liveness) : all_(mailboxes), rank_(rank), liveness_(liveness) {}
  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes);
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes);

 private:
  template <typename Message>
  class MessageTicket;

  /// Messages under way.  drop() detaches a message from the memory of the caller.
  struct PendingSend {
    std::span<const std::byte> rest;
    bool done = false;
  };
  struct PendingReceive {
    std::span<std::byte> output;
    bool dropped = false;
    bool done = false;
  };
  struct UnexpectedMessage {
    std::vector<std::byte> bytes;
    bool whole = false;
  };
  /// The messages from one process.
  struct IncomingMessages {
    std::deque<std::shared_ptr<PendingReceive>> awaited;
    std::deque<UnexpectedMessage> unexpected;  // messages without a receive(); only the last one may be incomplete
  };

  static void drop(PendingSend& sending) { sending.rest = {}; }
  static void drop(PendingReceive& receiving) { receiving.dropped = true; }
  static void put(PendingReceive& receiving, std::span<const std::byte> part, bool last);
  void wait(const bool& done);
  /// Writes parts into free mailboxes.  Returns true if any was written.
  bool push();
  bool push_part(int to, PendingSend& sending);
  /// Takes the part out of this process's mailbox.  Returns true if there was one.
  bool take();

  Mailbox* all_;
  int rank_;
  Liveness& liveness_;
  std::uint32_t taken_ = 0;
  std::map<int, std::deque<std::shared_ptr<PendingSend>>> outgoing_;  // messages that have not been sent completely
  std::map<int, IncomingMessages> incoming_;
};

}  // namespace plait::transport::local
