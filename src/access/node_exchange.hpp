/// The part of a two-phase access that crosses nodes: packed messages, of which a bounded number is in flight.
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
  bool deliver(OwnWindow own_window, collective::FirstError& error);
  /// Writing: sends this rank's elements of other nodes' windows, and receives other ranks' elements of this worker's
  /// windows.  Otherwise like deliver().
  bool collect(OwnWindow own_window, collective::FirstError& error);

  /// Returns how many of this worker's windows, from the first one on, are completely packed or unpacked.
  std::int64_t completed_windows() const { return completed_windows_; }
  /// Returns true if messages are in flight.  They only proceed while the worker calls deliver() or collect().
  bool has_messages_in_flight() const { return outgoing_.any() || incoming_.any(); }
  /// Returns true if all messages have been sent and received.
  bool is_done() const {
    return sends_.window_number == window_count_ && receives_.window_number == window_count_ &&
           !has_messages_in_flight();
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
    std::vector<Peer> peers;         // the peers that exchange a message for that window; valid if `is_listed`
    std::size_t next = 0;
    bool is_listed = false;
  };
  struct Message {
    int worker = 0;
    std::int64_t window_number = 0;
  };

  /// Returns the range of a worker's window.
  Range worker_window(int worker, std::int64_t window_number) const;
  /// Returns true if a worker is on another node.
  bool is_remote(std::int64_t worker) const;
  /// Return the peers of a message for a window: the owners of elements of this worker's window, or the readers whose
  /// windows of that number have elements of this rank.  is_send: true if this worker sends the messages.
  std::vector<Peer> list_owners_of_window(std::int64_t window_number, bool is_send) const;
  std::vector<Peer> list_readers_of_part(std::int64_t window_number, bool is_send) const;
  Peer make_peer(int worker, std::int64_t elements, bool is_send) const;
  std::size_t message_bytes(const Peer& peer) const;
  /// Returns the peer of the next message, or nullptr after the last one.  `list(window_number)` returns the peers of a
  /// window.
  template <typename List>
  const Peer* next(Queue& queue, collective::FirstError& error, List&& list);
  template <typename Pack>
  bool send(const Peer& to, collective::FirstError& error, Pack&& pack);
  bool receive(const Peer& from, collective::FirstError& error);
  template <typename Unpack>
  void run_unpack(collective::FirstError& error, Unpack&& unpack);

  /// Maximum number of consecutive windows for which parts may be under way while writing.
  static constexpr std::int64_t kMaxWindowsAhead = 4;

  const Access& access_;
  std::int64_t window_count_ = 0;
  std::vector<WindowCopier> own_copiers_;  // of this worker's rank; empty if it has none
  collective::MessagesInFlight<Message, plan::kInFlight> outgoing_;
  collective::MessagesInFlight<Message, plan::kInFlight> incoming_;
  Queue sends_;
  Queue receives_;
  std::int64_t completed_windows_ = 0;
  /// Writing: number of messages that are not unpacked yet, by window number modulo kMaxWindowsAhead.
  std::array<std::int64_t, kMaxWindowsAhead> missing_parts_{};
  collective::Reserve reserve_;
};

}  // namespace plait::access
