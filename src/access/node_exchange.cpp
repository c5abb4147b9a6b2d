#include "access/node_exchange.hpp"

#include <algorithm>

#include "collective/stopwatch.hpp"
#include "transport/ring.hpp"

namespace plait::access {

NodeExchange::NodeExchange(const Access& access)
    : access_(access), outgoing_(access.transport), incoming_(access.transport) {
  if (!access.transport.nodes_apart()) return;
  if (!access.arrays.empty()) mine_.emplace_back(access.plan, access.arrays[0].rank);
  const auto bytes =
      static_cast<std::size_t>(access.plan.window() * access.plan.most_positions() * access.plan.element_bytes());
  outgoing_.allocate(bytes);
  incoming_.allocate(bytes);
}

NodeExchange::Peer NodeExchange::peer(int worker, std::int64_t elements, bool behind) const {
  const int size = access_.transport.size();
  const int rank = access_.transport.rank();
  return {transport::ring_distance(behind ? rank : worker, behind ? worker : rank, size), worker, elements};
}

NodeExchange::Range NodeExchange::window_of(int worker, std::int64_t step) const {
  return access_.plan.window(access_.plan.reader_at(worker), step);
}

bool NodeExchange::elsewhere(std::int64_t worker) const {
  return access_.transport.node_rank_of(static_cast<int>(worker)) < 0;
}

std::vector<NodeExchange::Peer> NodeExchange::owners_of_my_window(std::int64_t step, bool behind) const {
  const Range range = window_of(access_.transport.rank(), step);
  std::vector<Peer> result;
  if (range.empty()) return result;
  for (const plan::RankPart& part : access_.plan.parts(range))
    if (elsewhere(part.rank)) result.push_back(peer(static_cast<int>(part.rank), part.elements, behind));
  return result;
}

std::vector<NodeExchange::Peer> NodeExchange::readers_of_my_part(std::int64_t step, bool behind) const {
  std::vector<Peer> result;
  if (mine_.empty()) return result;
  for (const plan::RankPart& part :
       access_.plan.readers_of(mine_[0].holdings(), step, [this](std::int64_t worker) { return elsewhere(worker); }))
    result.push_back(peer(static_cast<int>(part.rank), part.elements, behind));
  return result;
}

template <typename Pack, typename Unpack>
void NodeExchange::exchange(std::vector<Peer> to, std::vector<Peer> from, collective::FirstError& error, Pack&& pack,
                            Unpack&& unpack) {
  const auto nearer = [](const Peer& a, const Peer& b) { return a.distance < b.distance; };
  std::sort(to.begin(), to.end(), nearer);
  std::sort(from.begin(), from.end(), nearer);
  transport::Transport& transport = access_.transport;
  std::size_t next_to = 0;
  std::size_t next_from = 0;
  while (next_to < to.size() || next_from < from.size()) {
    std::int64_t distance = transport.size();
    if (next_to < to.size()) distance = to[next_to].distance;
    if (next_from < from.size()) distance = std::min(distance, from[next_from].distance);
    std::unique_ptr<transport::Ticket> sending;
    std::unique_ptr<transport::Ticket> receiving;
    const bool receives = next_from < from.size() && from[next_from].distance == distance;
    const auto bytes = [&](const Peer& peer) {
      return static_cast<std::size_t>(peer.elements * access_.plan.element_bytes());
    };
    if (receives)
      receiving = reserve_.again(
          error, [&] { return transport.receive(from[next_from].worker, incoming_.first(bytes(from[next_from]))); });
    if (next_to < to.size() && to[next_to].distance == distance) {
      {
        const collective::Stopwatch watch(access_.times.copy);
        error.keep([&] { pack(to[next_to].worker, outgoing_.data()); });
      }
      sending = reserve_.again(error,
                               [&] { return transport.send(to[next_to].worker, outgoing_.first(bytes(to[next_to]))); });
      ++next_to;
    }
    {
      const collective::Stopwatch watch(access_.times.wait);
      if (receiving) receiving->complete();
    }
    if (receives) {
      const collective::Stopwatch watch(access_.times.copy);
      error.keep([&] { unpack(from[next_from].worker, incoming_.data()); });
      ++next_from;
    }
    const collective::Stopwatch watch(access_.times.wait);
    if (sending) sending->complete();
  }
}

void NodeExchange::deliver(std::int64_t step, const std::byte* window, collective::FirstError& error) {
  if (!access_.transport.nodes_apart()) return;
  const plan::AccessPlan& plan = access_.plan;
  const Range own = window_of(access_.transport.rank(), step);
  exchange(
      reserve_.again(error, [&] { return owners_of_my_window(step, true); }),
      reserve_.again(error, [&] { return readers_of_my_part(step, false); }), error,
      [&](int worker, std::byte* packed) { WindowCopier(plan, worker).pack_from_window(own, window, packed); },
      [&](int worker, const std::byte* packed) {
        mine_[0].unpack_to_array(window_of(worker, step), packed, access_.arrays[0]);
      });
}

void NodeExchange::collect(std::int64_t step, std::byte* window, collective::FirstError& error) {
  if (!access_.transport.nodes_apart()) return;
  const plan::AccessPlan& plan = access_.plan;
  const Range own = window_of(access_.transport.rank(), step);
  exchange(
      reserve_.again(error, [&] { return readers_of_my_part(step, true); }),
      reserve_.again(error, [&] { return owners_of_my_window(step, false); }), error,
      [&](int worker, std::byte* packed) {
        mine_[0].pack_from_array(window_of(worker, step), access_.arrays[0], packed);
      },
      [&](int worker, const std::byte* packed) { WindowCopier(plan, worker).unpack_to_window(own, packed, window); });
}

}  // namespace plait::access
