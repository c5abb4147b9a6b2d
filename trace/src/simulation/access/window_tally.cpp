// The time of an exchange between nodes that has too many messages to simulate one by one.
//
// Idea: three limits are computed for each rank from sums, and the largest is the time of its exchange: its messages
// one after another, the bytes of its node over its link, and the bytes of all nodes over the network.
//
// Example: latency = 2000 ns, link_rate = 12.5e9 bytes/s. A rank sends 50 messages and receives 10; its node sends
// 1.25 MB and receives 0.5 MB. Latencies take 50 * 2000 = 100,000 ns and the link takes 1.25e6 / 12.5e9 s = 100,000
// ns. If the whole network has no limit, the exchange of this rank takes 100,000 ns.

#include "simulation/access/window_tally.hpp"

#include <algorithm>
#include <utility>

namespace plait::simulation {

WindowTally::WindowTally(const plan::AccessPlan& plan, bool write, std::int64_t ranks_per_node, Resumer& resumer,
                         Network& network)
    : plan_(plan),
      write_(write),
      ranks_per_node_(ranks_per_node),
      network_(network),
      barrier_(resumer, plan.task().workers, 0) {}

const WindowTally::MessageTotals& WindowTally::share(std::int64_t window_number, std::int64_t rank) {
  return find_sums(window_number).ranks[static_cast<std::size_t>(rank)];
}

Time WindowTally::exchange_time(std::int64_t window_number, std::int64_t rank) {
  const WindowSums& sums = find_sums(window_number);
  const MessageTotals& share_of_rank = sums.ranks[static_cast<std::size_t>(rank)];
  const NodeBytes& node = sums.nodes[static_cast<std::size_t>(rank / ranks_per_node_)];
  const NetworkSettings& network = network_.settings();
  return std::max({std::max(share_of_rank.sent, share_of_rank.received) * network.latency,
                   transfer_time(std::max(node.out, node.in), network.link_rate),
                   transfer_time(sums.bytes, network.total_rate)});
}

const WindowTally::WindowSums& WindowTally::find_sums(std::int64_t window_number) {
  WindowSums& entry = sums_[window_number % 2];
  if (entry.number != window_number) {
    entry.number = window_number;
    compute_sums(entry);
  }
  return entry;
}

void WindowTally::compute_sums(WindowSums& sums) const {
  sums.ranks.assign(static_cast<std::size_t>(plan_.task().workers), {});
  sums.nodes.assign(static_cast<std::size_t>(network_.nodes()), {});
  sums.bytes = 0;
  const auto nodes = static_cast<std::size_t>(network_.nodes());
  // Number of messages and bytes between this node and each other node.
  std::vector<std::pair<std::int64_t, std::int64_t>> traffic_by_node(nodes);
  for (std::int64_t reader = 0; reader < plan_.readers(); ++reader) {
    const plan::PositionRange range = plan_.window(reader, sums.number);
    if (range.empty()) continue;
    const std::int64_t rank = plan_.reader_ranks().rank_at(reader);
    std::ranges::fill(traffic_by_node, std::pair<std::int64_t, std::int64_t>{});
    for (const plan::RankPart& part : plan_.owners().parts(range)) {
      if (part.rank / ranks_per_node_ == rank / ranks_per_node_) continue;
      MessageTotals& from = sums.ranks[static_cast<std::size_t>(write_ ? part.rank : rank)];
      MessageTotals& to = sums.ranks[static_cast<std::size_t>(write_ ? rank : part.rank)];
      ++from.sent;
      ++to.received;
      from.sent_elements += part.elements;
      to.received_elements += part.elements;
      auto& [messages, bytes] = traffic_by_node[static_cast<std::size_t>(part.rank / ranks_per_node_)];
      ++messages;
      bytes += part.elements * plan_.element_bytes();
    }
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto& [messages, bytes] = traffic_by_node[node];
      if (messages == 0) continue;
      const auto rank_node = static_cast<std::size_t>(rank / ranks_per_node_);
      const std::size_t from = write_ ? node : rank_node;
      const std::size_t to = write_ ? rank_node : node;
      network_.count_messages(static_cast<std::int64_t>(from), static_cast<std::int64_t>(to), messages, bytes);
      sums.nodes[from].out += bytes;
      sums.nodes[to].in += bytes;
      sums.bytes += bytes;
    }
  }
}

}  // namespace plait::simulation
