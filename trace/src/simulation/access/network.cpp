// The times of messages: links of nodes, and the eager and rendezvous protocols of MPI.
//
// Idea: a link is one number, the time at which it is free. A message occupies the outgoing link of its sender for
// bytes / link_rate, and the incoming link of its receiver for the same time, one latency later. Messages on one link
// follow each other in the order of their events.
//
// Example: link_rate = 12.5e9 bytes/s, latency = 2000 ns. A message of 125,000 bytes that is ready at 0 leaves until
// 10,000 and arrives at 12,000. A message of another node to the same receiver, ready at 0 too, finds the incoming
// link busy until 12,000 and arrives at 22,000.
//
// A message of at most `eager` bytes starts when it is sent. A longer one starts when it is sent and its receive is
// posted, whichever is later, and its sender waits until it has arrived.

#include "simulation/access/network.hpp"

#include <algorithm>

namespace plait::simulation {

Network::Network(const NetworkSettings& settings, std::int64_t nodes, bool carries_files)
    : settings_(settings),
      out_(static_cast<std::size_t>(nodes), 0),
      in_(static_cast<std::size_t>(nodes), 0),
      carries_files_(carries_files) {}

Time Network::occupy(Time& link, std::int64_t bytes, Time ready) const {
  link = std::max(link, ready) + transfer_time(bytes, settings_.link_rate);
  return link;
}

Network::TransferTimes Network::transfer_between_nodes(std::int64_t from, std::int64_t to, std::int64_t bytes,
                                                       Time ready) {
  count_messages(from, to, 1, bytes);
  Time& out = out_[static_cast<std::size_t>(from)];
  const Time begins = std::max(out, ready);
  const Time left = occupy(out, bytes, ready);
  // The first byte leaves one transfer time before the last one, so the incoming link starts to fill at begins +
  // latency.
  const Time in = occupy(in_[static_cast<std::size_t>(to)], bytes, begins + settings_.latency);
  total_ = std::max(total_, begins) + transfer_time(bytes, settings_.total_rate);
  return {left, std::max({left + settings_.latency, in, total_ + settings_.latency})};
}

Time Network::transfer_from_files(std::int64_t node, std::int64_t bytes, Time ready) {
  count_messages(nodes(), node, 1, bytes);
  return carries_files_ ? occupy(in_[static_cast<std::size_t>(node)], bytes, ready) : ready;
}

Time Network::transfer_to_files(std::int64_t node, std::int64_t bytes, Time ready) {
  count_messages(node, nodes(), 1, bytes);
  return carries_files_ ? occupy(out_[static_cast<std::size_t>(node)], bytes, ready) : ready;
}

void Network::count_messages(std::int64_t from, std::int64_t to, std::int64_t messages, std::int64_t bytes) {
  const auto key =
      static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(nodes() + 1) + static_cast<std::uint64_t>(to);
  LinkUse& use = traffic_.try_emplace(key, LinkUse{from, to, 0, 0}).first->second;
  use.messages += messages;
  use.bytes += bytes;
}

std::vector<LinkUse> Network::links() const {
  std::vector<LinkUse> all;
  all.reserve(traffic_.size());
  for (const auto& [key, use] : traffic_) all.push_back(use);
  std::ranges::sort(
      all, [](const LinkUse& a, const LinkUse& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  return all;
}

void Messages::start_transfer(const Address& address, MessageState& state) {
  const Network::TransferTimes times = network_.transfer_between_nodes(
      address.from / ranks_per_node_, address.to / ranks_per_node_, state.bytes, resumer_.now());
  state.arrived = times.arrived;
  state.left = state.bytes > network_.settings().eager ? times.arrived : times.left;
  if (state.receiver) resumer_.resume_at(state.arrived, std::exchange(state.receiver, nullptr));
  if (state.sender) resumer_.resume_at(state.left, std::exchange(state.sender, nullptr));
}

void Messages::post_receive(const Address& address) {
  MessageState& state = states_[address];
  state.receive_posted = true;
  if (state.send_posted && state.arrived == kNoTime) start_transfer(address, state);
}

void Messages::send(const Address& address, std::int64_t bytes) {
  MessageState& state = states_[address];
  state.send_posted = true;
  state.bytes = bytes;
  if (state.receive_posted || bytes <= network_.settings().eager) start_transfer(address, state);
}

void Messages::end_side(const Address& address) {
  const auto entry = states_.find(address);
  if (++entry->second.ended_sides == 2) states_.erase(entry);
}

Task Messages::await_received(Address address) {
  // The reference stays valid while the map grows: elements of an unordered_map do not move.
  MessageState& state = states_[address];
  if (state.arrived == kNoTime) co_await Suspend{state.receiver};
  co_await resumer_.until(state.arrived);
  end_side(address);
}

Task Messages::await_sent(Address address) {
  MessageState& state = states_[address];
  if (state.left == kNoTime) co_await Suspend{state.sender};
  co_await resumer_.until(state.left);
  end_side(address);
}

}  // namespace plait::simulation
