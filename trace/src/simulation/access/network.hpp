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
  Network(const NetworkSettings& settings, std::int64_t nodes, bool files_too);

  struct TransferTimes {
    Time left = 0;     ///< time at which the last byte leaves the sender
    Time arrived = 0;  ///< time at which the last byte arrives
  };
  /// Sends a message between nodes that is ready to leave at `ready`.
  TransferTimes carry(std::int64_t from, std::int64_t to, std::int64_t bytes, Time ready);
  /// Transfers bytes of a file from the file system to a node, or back.
  /// returns  the time at which the last byte arrives
  Time from_files(std::int64_t node, std::int64_t bytes, Time ready);
  Time to_files(std::int64_t node, std::int64_t bytes, Time ready);
  /// Counts messages that take no time.
  void count(std::int64_t from, std::int64_t to, std::int64_t messages, std::int64_t bytes);

  std::int64_t nodes() const { return static_cast<std::int64_t>(out_.size()); }
  const NetworkSettings& settings() const { return settings_; }
  /// The traffic of all pairs of nodes, in ascending order.
  std::vector<LinkUse> links() const;

 private:
  Time pass(Time& link, std::int64_t bytes, Time ready) const;

  NetworkSettings settings_;
  std::vector<Time> out_;  // for each node, the time at which its link is free
  std::vector<Time> in_;
  Time total_ = 0;
  bool files_too_;
  std::unordered_map<std::uint64_t, LinkUse> used_;
};

/// A message that a rank has begun to send or to receive.
struct MessageState {
  Time arrived = kNoTime;  ///< known as soon as the message has left
  Time left = kNoTime;
  std::int64_t bytes = 0;
  bool awaited = false;  ///< the receiver has posted its receive
  bool posted = false;   ///< the sender has posted its send
  std::coroutine_handle<> receiver{};
  std::coroutine_handle<> sender{};
  int ends = 0;  ///< number of sides that have finished
};

/// Messages between ranks with the protocols of MPI: short ones leave at once, long ones when the receiver waits for
/// them.
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
  void post_receive(const Address& address);
  void send(const Address& address, std::int64_t bytes);
  Task received(Address address);
  Task sent(Address address);

 private:
  struct Hash {
    std::size_t operator()(const Address& address) const noexcept {
      auto mixed = static_cast<std::uint64_t>(address.from) * 0x9E3779B97F4A7C15ULL;
      mixed = (mixed ^ static_cast<std::uint64_t>(address.to)) * 0xBF58476D1CE4E5B9ULL;
      mixed = (mixed ^ (mixed >> 31U) ^ static_cast<std::uint64_t>(address.number)) * 0x94D049BB133111EBULL;
      return static_cast<std::size_t>(mixed ^ (mixed >> 29U));
    }
  };
  void leave(const Address& address, MessageState& state);
  void end(const Address& address);

  Resumer& resumer_;
  Network& network_;
  std::int64_t ranks_per_node_;
  std::unordered_map<Address, MessageState, Hash> states_;
};

}  // namespace plait::simulation
