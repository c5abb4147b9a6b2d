/// The part of a two-phase access that crosses nodes: packed messages, of which a bounded number is under way.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "access/access.hpp"
#include "access/window_copier.hpp"
#include "base/function_ref.hpp"
#include "collective/messages_in_flight.hpp"
#include "collective/reserve.hpp"

namespace plait::access {

/// Sends and receives the packed messages of one worker. src/access/node_exchange.cpp explains the order of messages:
/// by windows, then by distance (the pairwise exchange of Bordawekar 1993, figure 16, for any number of workers).
/// Pairs without common elements are skipped.  A worker starts its sends in this order and its receives in this order.
/// Neither waits for the other, and up to Staging::in_flight() of each are under way.  Therefore no worker receives
/// from all others at once, links carry data in both directions, and the first message in this order that has not
/// arrived can always proceed.
/// pre     If there are several nodes, worker r holds rank r and no other rank.
class NodeExchange {
 public:
  /// Returns this worker's window of that number if messages may be packed from it or unpacked to it now, else nullptr.
  using OwnWindow = base::FunctionRef<std::byte*(std::int64_t window_number)>;

  explicit NodeExchange(const Access& access);

  /// Reading: sends the elements of this worker's windows that ranks of other nodes own, and receives this rank's
  /// elements of other nodes' windows.  Never waits.  Returns true if any message was started or completed.
  /// error:  Receives the first error of packing and unpacking.  A worker that has failed still exchanges all its
  /// messages.
  bool deliver(OwnWindow own, collective::FirstError& error);
  /// Writing: sends this rank's elements of other nodes' windows, and receives other ranks' elements of this worker's
  /// windows.  Otherwise like deliver().
  bool collect(OwnWindow own, collective::FirstError& error);

  /// Returns how many of this worker's windows, from the first one on, are completely packed or unpacked.
  std::int64_t windows_done() const { return windows_done_; }
  /// True if messages are under way.  They only proceed while the worker calls deliver() or collect().
  bool under_way() const { return outgoing_.any() || incoming_.any(); }
  /// True if all messages have been sent and received.
  bool done() const {
    return sends_.window_number == window_count_ && receives_.window_number == window_count_ && !under_way();
  }

 private:
  using Range = plan::PositionRange;
  /// A worker on another node, with its distance in the schedule and the number of elements that the message has.
  struct Peer {
    std::int64_t distance = 0;
    int worker = 0;
    std::int64_t elements = 0;
  };
  /// The messages in one direction that have not been started.
  struct Queue {
    std::int64_t window_number = 0;  // window of the next message
    std::vector<Peer> peers;         // the peers that exchange a message for that window; valid if `listed`
    std::size_t next = 0;
    bool listed = false;
  };
  struct Message {
    int worker = 0;
    std::int64_t window_number = 0;
  };

  Range worker_window(int worker, std::int64_t window_number) const;
  /// True if a worker is on another node.
  bool is_remote(std::int64_t worker) const;
  std::vector<Peer> owners_of_my_window(std::int64_t window_number, bool reversed) const;
  std::vector<Peer> readers_of_my_part(std::int64_t window_number, bool reversed) const;
  Peer peer(int worker, std::int64_t elements, bool reversed) const;
  std::size_t bytes(const Peer& peer) const;
  /// Returns the peer of the next message, or nullptr after the last one.  `list(window_number)` returns the peers of a
  /// window.
  template <typename List>
  const Peer* next(Queue& queue, collective::FirstError& error, List&& list);
  template <typename Pack>
  bool send(const Peer& to, collective::FirstError& error, Pack&& pack);
  bool receive(const Peer& from, collective::FirstError& error);
  template <typename Unpack>
  void unpacked(collective::FirstError& error, Unpack&& unpack);

  /// Maximum number of consecutive windows for which parts may be under way while writing.
  static constexpr std::int64_t kAhead = 4;

  const Access& access_;
  std::int64_t window_count_ = 0;
  std::vector<WindowCopier> own_copiers_;  // of this worker's rank; empty if it has none
  collective::MessagesInFlight<Message, plan::kInFlight> outgoing_;
  collective::MessagesInFlight<Message, plan::kInFlight> incoming_;
  Queue sends_;
  Queue receives_;
  std::int64_t windows_done_ = 0;
  std::array<std::int64_t, kAhead> missing_{};  // writing: messages not unpacked, by window number modulo kAhead
  collective::Reserve reserve_;
};

}  // namespace plait::access
