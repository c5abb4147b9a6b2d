/// Messages between the processes of a node: parts that go through a mailbox of the receiver.
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

/// One for each process, in memory that all map; all zero is its initial state.  Its size bounds what messages take of
/// shared memory, however many processes there are.
struct alignas(64) Mailbox {
  static constexpr std::int64_t kPart = std::int64_t{64} << 10;
  std::atomic<std::uint32_t> writer{0};  // whose it is, from the beginning of a part until it is taken out: rank + 1
  std::atomic<std::uint32_t> filled{0};  // parts so far
  std::int32_t from = 0;
  std::int32_t last = 0;  // part of a message
  std::int64_t bytes = 0;
  std::array<std::byte, kPart> part{};
};

/// One process's end.  Whoever waits for one message moves all of its own: those that come for nobody yet are kept in
/// memory of this process, so that no mailbox stays full.
class Mailboxes {
 public:
  /// `mailboxes`: of all processes, by their ranks.
  Mailboxes(Mailbox* mailboxes, int rank, Liveness& liveness) : all_(mailboxes), rank_(rank), liveness_(liveness) {}
  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes);
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes);

 private:
  template <typename Message>
  class MessageTicket;

  /// Of messages that nobody waits for any more, the memory is not looked at again.
  struct Sending {
    std::span<const std::byte> rest;
    bool done = false;
  };
  struct Receiving {
    std::span<std::byte> room;
    bool dropped = false;
    bool done = false;
  };
  struct Unexpected {
    std::vector<std::byte> bytes;
    bool whole = false;
  };
  /// What comes of one process.
  struct Incoming {
    std::deque<std::shared_ptr<Receiving>> awaited;
    std::deque<Unexpected> unexpected;  // where nothing is awaited; only the last one may not be whole
  };

  static void drop(Sending& sending) { sending.rest = {}; }
  static void drop(Receiving& receiving) { receiving.dropped = true; }
  static void put(Receiving& receiving, std::span<const std::byte> part, bool last);
  void wait(const bool& done);
  /// Puts parts into mailboxes that are free: whether there was one.
  bool push();
  bool push_part(int to, Sending& sending);
  /// Takes the part out of this process's mailbox: whether there was one.
  bool take();

  Mailbox* all_;
  int rank_;
  Liveness& liveness_;
  std::uint32_t taken_ = 0;
  std::map<int, std::deque<std::shared_ptr<Sending>>> outgoing_;  // those that have not gone whole
  std::map<int, Incoming> incoming_;
};

}  // namespace plait::transport::local
