/// Links between nodes, and messages over them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulation/access/outcome.hpp"
#include "simulation/access/settings.hpp"
#include "simulation/access/task.hpp"

namespace plait::simulation {

/// The links of all nodes. Each node has a link with two directions, on which bytes follow each other in the order in
/// which they become ready. One more link carries all messages and limits the network as a whole.
class Network {
 public:
  Network(const NetworkSettings& settings, std::int64_t nodes, bool carries_files);

  struct TransferTimes {
    Time left = 0;     ///< time at which the last byte leaves the sender
    Time arrived = 0;  ///< time at which the last byte arrives
  };
  /// Transfers a message from one node to another. It is ready to leave at `ready`.
  TransferTimes transfer_between_nodes(std::int64_t from, std::int64_t to, std::int64_t bytes, Time ready);
  /// Transfer bytes of a file from the file system to a node, and from a node to the file system.
  /// returns  the time at which the last byte arrives
  Time transfer_from_files(std::int64_t node, std::int64_t bytes, Time ready);
  Time transfer_to_files(std::int64_t node, std::int64_t bytes, Time ready);
  /// Adds messages to links() without simulating their time.
  void count_messages(std::int64_t from, std::int64_t to, std::int64_t messages, std::int64_t bytes);

  std::int64_t nodes() const { return static_cast<std::int64_t>(out_.size()); }
  const NetworkSettings& settings() const { return settings_; }
  /// The traffic of all pairs of nodes, in ascending order.
  std::vector<LinkUse> links() const;

 private:
  /// Occupies a link (the time at which it is free) with bytes that are ready at `ready`. Returns the time at which the
  /// last byte has passed.
  Time occupy(Time& link, std::int64_t bytes, Time ready) const;

  NetworkSettings settings_;
  std::vector<Time> out_;  // for each node, the time at which its outgoing link is free
  std::vector<Time> in_;   // the same for its incoming link
  Time total_ = 0;         // time at which the link of the whole network is free
  bool carries_files_;     // false: file data does not cross links, because all ranks share one node
  std::unordered_map<std::uint64_t, LinkUse> traffic_;  // key: sender * (nodes + 1) + receiver
};

/// A message that a rank has begun to send or to receive.
struct MessageState {
  Time arrived = kNoTime;  ///< time at which it arrives; kNoTime: its transfer has not started
  Time left = kNoTime;     ///< time at which its sender may continue
  std::int64_t bytes = 0;
  bool receive_posted = false;  ///< the receiver has posted its receive
  bool send_posted = false;     ///< the sender has posted its send
  std::coroutine_handle<> receiver{};
  std::coroutine_handle<> sender{};
  int ended_sides = 0;  ///< number of sides, sender and receiver, that no longer wait
};

/// Messages between ranks with the eager and rendezvous protocols of MPI: a short message leaves at once, a long one
/// when the receiver has posted its receive.
class Messages {
 public:
  Messages(Resumer& resumer, Network& network, std::int64_t ranks_per_node)
      : resumer_(resumer), network_(network), ranks_per_node_(ranks_per_node) {}

  /// Identifies a message between two ranks. At most one message with each `number` is in progress between them.
  struct Address {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t number = 0;
    bool operator==(const Address&) const = default;
  };
  /// Declares that the receiver waits for the message, as MPI_Irecv does.
  void post_receive(const Address& address);
  /// Starts to send a message, as MPI_Isend does.
  void send(const Address& address, std::int64_t bytes);
  /// Wait, at the receiver and at the sender, until the message has arrived or its buffer is free.
  Task await_received(Address address);
  Task await_sent(Address address);

 private:
  struct Hash {
    std::size_t operator()(const Address& address) const noexcept {
      auto mixed = static_cast<std::uint64_t>(address.from) * 0x9E3779B97F4A7C15ULL;
      mixed = (mixed ^ static_cast<std::uint64_t>(address.to)) * 0xBF58476D1CE4E5B9ULL;
      mixed = (mixed ^ (mixed >> 31U) ^ static_cast<std::uint64_t>(address.number)) * 0x94D049BB133111EBULL;
      return static_cast<std::size_t>(mixed ^ (mixed >> 29U));
    }
  };
  void start_transfer(const Address& address, MessageState& state);
  void end_side(const Address& address);

  Resumer& resumer_;
  Network& network_;
  std::int64_t ranks_per_node_;
  std::unordered_map<Address, MessageState, Hash> states_;
};

}  // namespace plait::simulation
