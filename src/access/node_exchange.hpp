/// The part of a two-phase access that crosses nodes: packed messages in a pairwise schedule.
#pragma once

#include <vector>

#include "access/access.hpp"
#include "access/window_copier.hpp"
#include "collective/message_buffer.hpp"
#include "collective/reserve.hpp"

namespace plait::access {

/// In round d of a step each worker sends to the worker d behind it and receives from the one d before it (the pairwise
/// exchange of Bordawekar 1993, figure 16, for any number of workers), skipping pairs that have nothing in common; so
/// nobody is flooded, and one message each way is in memory at a time.
/// pre     Where nodes are apart each worker holds the one rank of its own number.
class NodeExchange {
 public:
  explicit NodeExchange(const Access& access);

  /// Reading: sends what other nodes own of this worker's window, receives what this rank owns of their windows.
  /// error: of a worker that cannot do its part as it should, but exchanges its messages all the same.
  void deliver(std::int64_t step, const std::byte* window, collective::FirstError& error);
  /// Writing: sends this rank's parts of other nodes' windows, receives their parts of this worker's window.
  void collect(std::int64_t step, std::byte* window, collective::FirstError& error);

 private:
  using Range = plan::AccessPlan::Range;
  /// A worker on another node, by its distance in the schedule.
  struct Peer {
    std::int64_t distance = 0;
    int worker = 0;
    std::int64_t elements = 0;
  };
  Range window_of(int worker, std::int64_t step) const;
  /// Whether a worker is on another node.
  bool elsewhere(std::int64_t worker) const;
  std::vector<Peer> owners_of_my_window(std::int64_t step, bool behind) const;
  std::vector<Peer> readers_of_my_part(std::int64_t step, bool behind) const;
  Peer peer(int worker, std::int64_t elements, bool behind) const;
  template <typename Pack, typename Unpack>
  void exchange(std::vector<Peer> to, std::vector<Peer> from, collective::FirstError& error, Pack&& pack,
                Unpack&& unpack);

  const Access& access_;
  std::vector<WindowCopier> mine_;
  collective::MessageBuffer outgoing_;
  collective::MessageBuffer incoming_;
  collective::Reserve reserve_;
};

}  // namespace plait::access
