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

/// Messages of all workers have one order: by steps, and in a step by rounds, in round d of which each worker sends to
/// the worker d behind it and receives from the one d before it (the pairwise exchange of Bordawekar 1993, figure 16,
/// for any number of workers); pairs that have nothing in common are skipped.  A worker starts its sends in this order
/// and its receives in this order, neither waiting for the other, Staging::in_flight() each way at a time.  So nobody
/// is flooded, links carry both ways at once, and of all messages the first one that has not come can always go on.
/// pre     Where nodes are apart each worker holds the one rank of its own number.
class NodeExchange {
 public:
  /// This worker's window of a step, once it may be packed from or unpacked to; nullptr before.
  using OwnWindow = base::FunctionRef<std::byte*(std::int64_t step)>;

  explicit NodeExchange(const Access& access);

  /// Reading: goes on with sending what other nodes own of this worker's windows, and receiving what this rank owns of
  /// theirs.  Never waits.  Whether anything moved.
  /// error: of a worker that cannot do its part as it should, but exchanges its messages all the same.
  bool deliver(OwnWindow own, collective::FirstError& error);
  /// Writing: the same for this rank's parts of other nodes' windows, and their parts of this worker's windows.
  bool collect(OwnWindow own, collective::FirstError& error);

  /// Of this worker's first so many windows all has been packed, or unpacked.
  std::int64_t windows_done() const { return windows_done_; }
  /// Whether messages are under way, which move only while somebody looks.
  bool under_way() const { return outgoing_.any() || incoming_.any(); }
  /// Whether all messages have been sent and received.
  bool done() const { return sends_.step == steps_ && receives_.step == steps_ && !under_way(); }

 private:
  using Range = plan::PositionRange;
  /// A worker on another node, by its distance in the schedule.
  struct Peer {
    std::int64_t distance = 0;
    int worker = 0;
    std::int64_t elements = 0;
  };
  /// Messages one way that have not been started.
  struct Queue {
    std::int64_t step = 0;    // of the next one
    std::vector<Peer> peers;  // of that step, once it is listed
    std::size_t next = 0;
    bool listed = false;
  };
  struct Message {
    int worker = 0;
    std::int64_t step = 0;
  };

  Range window_of(int worker, std::int64_t step) const;
  /// Whether a worker is on another node.
  bool elsewhere(std::int64_t worker) const;
  std::vector<Peer> owners_of_my_window(std::int64_t step, bool behind) const;
  std::vector<Peer> readers_of_my_part(std::int64_t step, bool behind) const;
  Peer peer(int worker, std::int64_t elements, bool behind) const;
  std::size_t bytes(const Peer& peer) const;
  /// The next message, of a list that `list(step)` gives for each step; nullptr behind the last one.
  template <typename List>
  const Peer* next(Queue& queue, collective::FirstError& error, List&& list);
  template <typename Pack>
  bool send(const Peer& to, collective::FirstError& error, Pack&& pack);
  bool receive(const Peer& from, collective::FirstError& error);
  template <typename Unpack>
  void unpacked(collective::FirstError& error, Unpack&& unpack);

  /// Windows of so many steps may have parts under way.
  static constexpr std::int64_t kAhead = 4;

  const Access& access_;
  std::int64_t steps_ = 0;
  std::vector<WindowCopier> mine_;
  collective::MessagesInFlight<Message, plan::kInFlight> outgoing_;
  collective::MessagesInFlight<Message, plan::kInFlight> incoming_;
  Queue sends_;
  Queue receives_;
  std::int64_t windows_done_ = 0;
  std::array<std::int64_t, kAhead> missing_{};  // writing: parts of this worker's window of a step, modulo kAhead
  collective::Reserve reserve_;
};

}  // namespace plait::access
