// The messages of a simulated rank to and from other nodes, in the order of access::NodeExchange.
//
// Idea: each rank processes its partners in the order of their distance, the difference of rank numbers modulo the
// number of ranks, upwards for sends and downwards for receives. No rank then receives from two partners at once.
//
// Example: 4 ranks on 4 nodes, and every rank sends to every other. At distance 1 rank 1 sends to rank 2 and receives
// from rank 0; at distance 2 it sends to rank 3 and receives from rank 3; at distance 3 it sends to rank 0 and
// receives from rank 2. A rank posts its receive before it sends, because a message above the eager limit leaves only
// after the receiver has posted.
#include <algorithm>

#include "simulation/access/rank.hpp"

namespace plait::simulation {

/// Computes the distance in the order of transport::ring_distance().
Rank::Peer Rank::make_peer(std::int64_t rank, std::int64_t elements, bool reversed) const {
  const auto ranks = static_cast<std::int64_t>(context_.outcome.ranks.size());
  const std::int64_t up = reversed ? rank - number_ : number_ - rank;
  return {static_cast<std::int32_t>((up + ranks) % ranks), static_cast<std::int32_t>(rank), elements};
}

std::vector<Rank::Peer> Rank::find_owner_peers(std::int64_t window_number, bool reversed) const {
  std::vector<Peer> result;
  const std::int64_t reader = context_.plan.reader_ranks().reader_at(number_);
  const Range range = context_.plan.window(reader, window_number);
  if (range.empty()) return result;
  for (const plan::RankPart& part : context_.plan.owners().parts(range))
    if (part.rank / context_.ranks_per_node != node_.number)
      result.push_back(make_peer(part.rank, part.elements, reversed));
  return result;
}

std::vector<Rank::Peer> Rank::find_reader_peers(std::int64_t window_number, bool reversed) const {
  std::vector<Peer> result;
  if (holdings_.empty()) return result;
  const auto elsewhere = [this](std::int64_t rank) { return rank / context_.ranks_per_node != node_.number; };
  for (const plan::RankPart& part : context_.plan.find_readers(holdings_, window_number, elsewhere))
    result.push_back(make_peer(part.rank, part.elements, reversed));
  return result;
}

Task Rank::exchange(std::int64_t window_number) {
  if (context_.tally != nullptr) {
    co_await exchange_at_once(window_number);
    co_return;
  }
  // When reading, windows go to the owners of their elements; when writing, elements go to the readers of their
  // windows.
  std::vector<Peer> to = context_.write ? find_reader_peers(window_number, /*reversed=*/true)
                                        : find_owner_peers(window_number, /*reversed=*/true);
  std::vector<Peer> from = context_.write ? find_owner_peers(window_number, /*reversed=*/false)
                                          : find_reader_peers(window_number, /*reversed=*/false);
  std::ranges::sort(to, {}, &Peer::distance);
  std::ranges::sort(from, {}, &Peer::distance);
  const auto messages = static_cast<Time>(to.size() + from.size());
  if (messages == 0) co_return;
  co_await spend(Phase::kPlan, messages * context_.settings.nodes.message);
  const std::int64_t bytes = context_.plan.element_bytes();
  std::size_t next_to = 0;
  std::size_t next_from = 0;
  while (next_to < to.size() || next_from < from.size()) {
    std::int32_t distance = next_to < to.size() ? to[next_to].distance : from[next_from].distance;
    if (next_from < from.size()) distance = std::min(distance, from[next_from].distance);
    const bool receives = next_from < from.size() && from[next_from].distance == distance;
    const bool sends = next_to < to.size() && to[next_to].distance == distance;
    Messages::Address incoming;
    Messages::Address outgoing;
    if (receives) {
      incoming = {from[next_from].rank, number_, window_number};
      context_.messages.post_receive(incoming);
    }
    if (sends) {
      outgoing = {number_, to[next_to].rank, window_number};
      const std::int64_t elements = to[next_to++].elements;
      co_await spend(Phase::kCopy, copy_time(elements));
      context_.messages.send(outgoing, elements * bytes);
      ++outcome().sent;
      outcome().sent_bytes += elements * bytes;
    }
    if (receives) {
      const Time began = context_.resumer.now();
      co_await context_.messages.await_received(incoming);
      record_time(Phase::kExchange, began);
      const std::int64_t elements = from[next_from++].elements;
      co_await spend(Phase::kCopy, copy_time(elements));
      ++outcome().received;
      outcome().received_bytes += elements * bytes;
    }
    if (sends) {
      const Time began = context_.resumer.now();
      co_await context_.messages.await_sent(outgoing);
      record_time(Phase::kExchange, began);
    }
  }
}

Task Rank::exchange_at_once(std::int64_t window_number) {
  const WindowTally::MessageTotals share = context_.tally->share(window_number, number_);
  co_await spend(Phase::kPlan, (share.sent + share.received) * context_.settings.nodes.message);
  co_await spend(Phase::kCopy, copy_time(share.sent_elements));
  const Time began = context_.resumer.now();
  co_await context_.tally->barrier().arrive();
  co_await context_.resumer.until(context_.resumer.now() + context_.tally->exchange_time(window_number, number_));
  record_time(Phase::kExchange, began);
  co_await spend(Phase::kCopy, copy_time(share.received_elements));
  outcome().sent += share.sent;
  outcome().received += share.received;
  outcome().sent_bytes += share.sent_elements * context_.plan.element_bytes();
  outcome().received_bytes += share.received_elements * context_.plan.element_bytes();
}

}  // namespace plait::simulation
