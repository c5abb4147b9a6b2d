// Messages between nodes in the pairwise order of Bordawekar 1993, figure 16.
//
// Problem: if every rank sent to rank 0 first, rank 0 would be flooded and all others would wait. If ranks sent in
// different orders, bounded queues could deadlock.
//
// Idea: all messages have one order, by window number (`window_number`) and then by distance. At distance d each worker
// sends to worker (own + d) mod P and receives from (own - d) mod P, so each worker has one sender and one receiver at
// a time. Sends and receives are two queues that are started in this order, independently, in_flight() messages at a
// time. The first message in this order that has not arrived never waits for another one, so the exchange cannot
// deadlock.
//
// Example: 4 workers on 4 nodes. At distance 1 the pairs are 0->1, 1->2, 2->3, 3->0; at distance 2 they are 0->2, 1->3,
// 2->0, 3->1. If rank 1 owns no element of worker 0's window, both sides skip the pair 0->1, because each side derives
// it from the plan alone.
//
// Reading (deliver) packs from this worker's windows and unpacks into arrays. Writing (collect) packs from arrays and
// unpacks into windows. A worker that has failed still sends and receives all its messages, so that the others can
// finish and fail with the same error.

#include "access/node_exchange.hpp"

#include <algorithm>

#include "collective/stopwatch.hpp"
#include "transport/ring.hpp"

namespace plait::access {

NodeExchange::NodeExchange(const Access& access)
    : access_(access), outgoing_(access.transport), incoming_(access.transport) {
  if (!access.transport.nodes_apart() || access.plan.each_node()) return;
  window_count_ = access.plan.windows();
  if (!access.arrays.empty()) own_copiers_.emplace_back(access.plan, access.arrays[0].rank);
  const auto bytes = static_cast<std::size_t>(access.plan.window_elements() * access.plan.owners().max_positions() *
                                              access.plan.element_bytes());
  outgoing_.allocate(access.plan.staging().in_flight(), bytes);
  incoming_.allocate(access.plan.staging().in_flight(), bytes);
}

NodeExchange::Peer NodeExchange::make_peer(int worker, std::int64_t elements, bool is_send) const {
  const int size = access_.transport.size();
  const int rank = access_.transport.rank();
  return {transport::ring_distance(is_send ? rank : worker, is_send ? worker : rank, size), worker, elements};
}

std::size_t NodeExchange::message_bytes(const Peer& peer) const {
  return static_cast<std::size_t>(peer.elements * access_.plan.element_bytes());
}

NodeExchange::Range NodeExchange::worker_window(int worker, std::int64_t window_number) const {
  return access_.plan.window(access_.plan.reader_ranks().reader_at(worker), window_number);
}

bool NodeExchange::is_remote(std::int64_t worker) const {
  return access_.transport.rank_on_node(static_cast<int>(worker)) < 0;
}

std::vector<NodeExchange::Peer> NodeExchange::list_owners_of_window(std::int64_t window_number, bool is_send) const {
  const Range range = worker_window(access_.transport.rank(), window_number);
  std::vector<Peer> result;
  if (range.empty()) return result;
  for (const plan::RankPart& part : access_.plan.owners().parts(range))
    if (is_remote(part.rank)) result.push_back(make_peer(static_cast<int>(part.rank), part.elements, is_send));
  return result;
}

std::vector<NodeExchange::Peer> NodeExchange::list_readers_of_part(std::int64_t window_number, bool is_send) const {
  std::vector<Peer> result;
  if (own_copiers_.empty()) return result;
  for (const plan::RankPart& part : access_.plan.find_readers(
           own_copiers_[0].holdings(), window_number, [this](std::int64_t worker) { return is_remote(worker); }))
    result.push_back(make_peer(static_cast<int>(part.rank), part.elements, is_send));
  return result;
}

template <typename List>
const NodeExchange::Peer* NodeExchange::next(Queue& queue, collective::FirstError& error, List&& list) {
  while (queue.window_number < window_count_) {
    if (!queue.is_listed) {
      queue.peers = reserve_.again(error, [&] { return list(queue.window_number); });
      std::ranges::sort(queue.peers, {}, &Peer::distance);
      queue.next = 0;
      queue.is_listed = true;
    }
    if (queue.next < queue.peers.size()) return &queue.peers[queue.next];
    queue.is_listed = false;
    ++queue.window_number;
  }
  return nullptr;
}

template <typename Pack>
bool NodeExchange::send(const Peer& to, collective::FirstError& error, Pack&& pack) {
  return outgoing_.start({to.worker, sends_.window_number}, message_bytes(to), [&](std::span<std::byte> packed) {
    {
      const collective::Stopwatch watch(access_.times.copy);
      error.keep([&] { pack(packed.data()); });
    }
    ++sends_.next;
    return reserve_.again(error, [&] { return access_.transport.send(to.worker, packed); });
  });
}

bool NodeExchange::receive(const Peer& from, collective::FirstError& error) {
  return incoming_.start({from.worker, receives_.window_number}, message_bytes(from), [&](std::span<std::byte> output) {
    ++receives_.next;
    return reserve_.again(error, [&] { return access_.transport.receive(from.worker, output); });
  });
}

template <typename Unpack>
void NodeExchange::run_unpack(collective::FirstError& error, Unpack&& unpack) {
  const collective::Stopwatch watch(access_.times.copy);
  error.keep(unpack);
}

bool NodeExchange::deliver(OwnWindow own_window, collective::FirstError& error) {
  const plan::AccessPlan& plan = access_.plan;
  bool has_progressed = incoming_.take([&](const Message& message, const std::byte* packed) {
    run_unpack(error, [&] {
      own_copiers_[0].unpack_to_array(worker_window(message.worker, message.window_number), packed, access_.arrays[0]);
    });
    return true;
  });
  has_progressed = outgoing_.release() || has_progressed;
  const auto readers = [&](std::int64_t window_number) {
    return list_readers_of_part(window_number, /*is_send=*/false);
  };
  for (const Peer* from = next(receives_, error, readers); from != nullptr && receive(*from, error);
       from = next(receives_, error, readers))
    has_progressed = true;
  const auto owners = [&](std::int64_t window_number) {
    return list_owners_of_window(window_number, /*is_send=*/true);
  };
  for (const Peer* to = next(sends_, error, owners); to != nullptr; to = next(sends_, error, owners)) {
    const std::byte* const window = own_window(sends_.window_number);
    if (window == nullptr) break;
    const Range range = worker_window(access_.transport.rank(), sends_.window_number);
    const int worker = to->worker;
    if (!send(*to, error,
              [&](std::byte* packed) { WindowCopier(plan, worker).pack_from_window(range, window, packed); }))
      break;
    has_progressed = true;
  }
  completed_windows_ = sends_.window_number;
  return has_progressed;
}

bool NodeExchange::collect(OwnWindow own_window, collective::FirstError& error) {
  const plan::AccessPlan& plan = access_.plan;
  bool has_progressed = incoming_.take([&](const Message& message, const std::byte* packed) {
    std::byte* const window = own_window(message.window_number);
    // A part that arrives before its window is free stays in its message buffer; take() offers it again.
    if (window == nullptr) return false;
    const Range range = worker_window(access_.transport.rank(), message.window_number);
    run_unpack(error, [&] { WindowCopier(plan, message.worker).unpack_to_window(range, packed, window); });
    --missing_parts_[static_cast<std::size_t>(message.window_number % kMaxWindowsAhead)];
    return true;
  });
  has_progressed = outgoing_.release() || has_progressed;
  const auto owners = [&](std::int64_t window_number) {
    return list_owners_of_window(window_number, /*is_send=*/false);
  };
  const Peer* from = next(receives_, error, owners);
  for (; from != nullptr && receives_.window_number < completed_windows_ + kMaxWindowsAhead;
       from = next(receives_, error, owners)) {
    // missing_parts_ has kMaxWindowsAhead counters, so receives of a window start only when the window kMaxWindowsAhead
    // before it is complete. Otherwise two incomplete windows would share a counter.
    const auto slot = static_cast<std::size_t>(receives_.window_number % kMaxWindowsAhead);
    if (!receive(*from, error)) break;
    ++missing_parts_[slot];
    has_progressed = true;
  }
  while (completed_windows_ < receives_.window_number &&
         missing_parts_[static_cast<std::size_t>(completed_windows_ % kMaxWindowsAhead)] == 0)
    // A window is complete if all its receives were started (receives_ is at a later window) and none of them is
    // missing.
    ++completed_windows_;
  const auto readers = [&](std::int64_t window_number) {
    return list_readers_of_part(window_number, /*is_send=*/true);
  };
  for (const Peer* to = next(sends_, error, readers); to != nullptr; to = next(sends_, error, readers)) {
    const Range range = worker_window(to->worker, sends_.window_number);
    if (!send(*to, error,
              [&](std::byte* packed) { own_copiers_[0].pack_from_array(range, access_.arrays[0], packed); }))
      break;
    has_progressed = true;
  }
  return has_progressed;
}

}  // namespace plait::access
