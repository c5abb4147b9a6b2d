// Exchanges messages in the pairwise order of Bordawekar 1993, figure 16: inside a node through windows in shared
// memory, between nodes by sends and receives of the transport.
//
// Inside a node a sender packs chunk after chunk into its own kSlots windows, and the receiver of the round unpacks
// them. The counters of a slot hold stamps, which grow from chunk to chunk and from round to round: `filled` is the
// stamp of the chunk in the window, `taken` that of the last chunk that was unpacked from it. Sender and receiver
// compute the same stamps independently. Before a sender reuses a slot it waits until `taken` has reached the stamp
// that it last stored in `filled`.
//
// Example: a message at distance 3 has 5 chunks. Chunk 0 has the stamp 3 * 2^19 + 1, chunk 2 the stamp 3 * 2^19 + 3,
// and both use slot 0. Before the sender packs chunk 2 it waits for taken >= 3 * 2^19 + 1. With at most 4096 ranks on a
// node and 2^19 - 2 chunks in a message, stamps stay below 2^31, so that comparisons modulo 2^32 are correct.

#include "exchange/pairwise.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "transport/ring.hpp"

namespace plait::exchange {

namespace {

/// Limits of stamps: 19 bits count the chunks of a message, 12 bits the rounds.
constexpr std::int64_t kMaxChunks = (std::int64_t{1} << 19) - 2;
constexpr int kMaxNodeSize = 4096;

/// Returns the number of elements of the longest local array, including its halo.
std::int64_t longest_array(const Layout& layout) {
  std::int64_t product = 1;
  for (int d = 0; d < layout.dimensions(); ++d)
    product = base::checked_multiply(product, layout.longest_local(d) + layout.halo(d).lo + layout.halo(d).hi,
                                     "elements of the longest local array");
  return product;
}

/// Returns the number of elements of a chunk, which is the same on every rank.
std::int64_t chunk_elements(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
                            const transport::Transport& transport) {
  const std::int64_t buffers =
      plan::kSlots + (transport.nodes_apart() ? 2 * plan::messages_in_flight(memory_bytes) : 0);
  const std::int64_t max_chunk = memory_bytes / buffers / element_bytes;
  // A halo that wraps around receives elements more than once, so the sender's array does not limit the message then.
  std::int64_t longest = longest_array(pairs.target());
  if (!pairs.fill_halo()) longest = std::min(longest, longest_array(pairs.source()));
  const std::int64_t needed = std::max<std::int64_t>(base::ceil_divide(longest, kMaxChunks), 1);
  if (max_chunk < needed)
    base::throw_argument_error("memory=", memory_bytes, " bytes are too few for this redistribution; use at least ",
                               buffers * needed * element_bytes);
  if (transport.node_size() > kMaxNodeSize)
    base::throw_argument_error(transport.node_size(), " ranks on one node; at most ", kMaxNodeSize,
                               " can redistribute together");
  return std::max(needed, std::min(max_chunk, std::max<std::int64_t>(plan::kWindowBytes / element_bytes, 1)));
}

/// Returns the stamp of a chunk. It grows from chunk to chunk and from round to round, and is equal at both ends of a
/// pair.
std::uint32_t stamp(std::int64_t distance, std::int64_t chunk) {
  return static_cast<std::uint32_t>(distance * (kMaxChunks + 2) + chunk + 1);
}

}  // namespace

Pairwise::Pairwise(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
                   transport::Transport& transport)
    : element_bytes_(element_bytes),
      transport_(transport),
      chunk_(chunk_elements(pairs, element_bytes, memory_bytes, transport)),
      to_(plan(pairs, pairs.receivers(transport.rank()), /*sending=*/true)),
      from_(plan(pairs, pairs.senders(transport.rank()), /*sending=*/false)),
      outgoing_(transport),
      incoming_(transport) {
  if (transport.nodes_apart()) {
    outgoing_.allocate(plan::messages_in_flight(memory_bytes), static_cast<std::size_t>(chunk_ * element_bytes));
    incoming_.allocate(plan::messages_in_flight(memory_bytes), static_cast<std::size_t>(chunk_ * element_bytes));
  }
}

std::vector<Pairwise::Partner> Pairwise::plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks,
                                              bool sending) const {
  std::vector<Partner> result;
  const int me = transport_.rank();
  for (const std::int64_t rank : ranks) {
    const int worker = static_cast<int>(rank);
    if (worker == me) continue;
    const int position = transport_.rank_on_node(worker);
    const bool remote = position < 0;
    // Ranks are numbered inside the node for a partner there, and over all nodes for a remote one.
    const int size = remote ? transport_.size() : transport_.node_size();
    const int my_number = remote ? me : transport_.node_rank();
    const int peer_number = remote ? worker : position;
    result.push_back(
        {remote, transport::ring_distance(sending ? my_number : peer_number, sending ? peer_number : my_number, size),
         worker,
         PackedMessage(sending ? pairs.products(me, rank) : pairs.products(rank, me), dimension_order(pairs.target()),
                       element_bytes_)});
  }
  std::sort(result.begin(), result.end(), [](const Partner& a, const Partner& b) { return a.key() < b.key(); });
  return result;
}

std::int64_t Pairwise::staging_bytes() const { return chunk_bytes() * plan::kSlots + message_bytes(); }

void Pairwise::run(const copy::LocalArray* from, const copy::LocalArray* to, bool inside) {
  source_ = from;
  target_ = to;
  error_.clear();
  last_put_ = {};
  // Windows are created collectively, so this worker creates them if another node may need its own.
  if (inside || transport_.nodes_apart()) windows_ = &transport_.windows(plan::kSlots * chunk_ * element_bytes_);
  if (inside) run_inside();
  if (transport_.nodes_apart()) run_between_nodes();
  error_.rethrow();
}

void Pairwise::run_inside() {
  auto next_to = to_.begin();
  auto next_from = from_.begin();
  const auto has_next = [](auto next, const std::vector<Partner>& all) { return next != all.end() && !next->remote; };
  while (has_next(next_to, to_) || has_next(next_from, from_)) {
    std::int64_t distance = transport_.node_size();
    if (has_next(next_to, to_)) distance = next_to->distance;
    if (has_next(next_from, from_)) distance = std::min(distance, next_from->distance);
    const bool sends = has_next(next_to, to_) && next_to->distance == distance;
    const bool receives = has_next(next_from, from_) && next_from->distance == distance;
    round(sends ? &*next_to++ : nullptr, receives ? &*next_from++ : nullptr);
  }
  wait_until_taken();
}

void Pairwise::round(const Partner* to, const Partner* from) {
  const std::int64_t puts = to != nullptr ? base::ceil_divide(to->message.elements(), chunk_) : 0;
  const std::int64_t takes = from != nullptr ? base::ceil_divide(from->message.elements(), chunk_) : 0;
  // Puts and takes alternate, so that the worker that is furthest behind can always proceed.
  for (std::int64_t i = 0; i < std::max(puts, takes); ++i) {
    if (i < puts) put(*to, i);
    if (i < takes) take(*from, i);
  }
}

void Pairwise::put(const Partner& to, std::int64_t chunk) {
  const std::int64_t end = chunk_end(to.message, chunk);
  const int me = transport_.node_rank();
  transport::Slot& own_slot = slot(me, chunk);
  std::uint32_t& last = last_put_[static_cast<std::size_t>(chunk % plan::kSlots)];
  transport_.gates().wait(own_slot.taken, last);
  error_.keep([&] { to.message.pack(chunk * chunk_, end, *source_, window(me, chunk)); });
  last = stamp(to.distance, chunk);
  // Release: the receiver sees the packed bytes when it sees the stamp.
  own_slot.filled.store(last, std::memory_order_release);
  transport::wake_all(own_slot.filled);
}

void Pairwise::take(const Partner& from, std::int64_t chunk) {
  const std::int64_t end = chunk_end(from.message, chunk);
  const int peer = transport_.rank_on_node(from.worker);
  transport::Slot& peer_slot = slot(peer, chunk);
  transport_.gates().wait(peer_slot.filled, stamp(from.distance, chunk));
  error_.keep([&] { from.message.unpack(chunk * chunk_, end, window(peer, chunk), *target_); });
  // Release: the sender may overwrite the window only after these reads.
  peer_slot.taken.store(stamp(from.distance, chunk), std::memory_order_release);
  transport::wake_all(peer_slot.taken);
}

Pairwise::Chunk Pairwise::first_between_nodes(const std::vector<Partner>& partners) const {
  const auto first = std::ranges::find_if(partners, &Partner::remote);
  return {first == partners.end() ? nullptr : &*first, 0};
}

Pairwise::Chunk Pairwise::next(const std::vector<Partner>& partners, Chunk chunk) const {
  if ((chunk.number + 1) * chunk_ < chunk.partner->message.elements()) return {chunk.partner, chunk.number + 1};
  return {chunk.partner == &partners.back() ? nullptr : chunk.partner + 1, 0};
}

std::size_t Pairwise::bytes_in(const Chunk& chunk) const {
  const std::int64_t end = chunk_end(chunk.partner->message, chunk.number);
  return static_cast<std::size_t>((end - chunk.number * chunk_) * element_bytes_);
}

bool Pairwise::unpack_arrived() {
  return incoming_.take([&](const Chunk& chunk, const std::byte* packed) {
    const PackedMessage& message = chunk.partner->message;
    error_.keep([&] { message.unpack(chunk.number * chunk_, chunk_end(message, chunk.number), packed, *target_); });
    return true;
  });
}

bool Pairwise::receive(Chunk& next_chunk) {
  if (next_chunk.partner == nullptr) return false;
  const bool begun = incoming_.start(next_chunk, bytes_in(next_chunk), [&](std::span<std::byte> output) {
    return reserve_.again(error_, [&] { return transport_.receive(next_chunk.partner->worker, output); });
  });
  if (begun) next_chunk = next(from_, next_chunk);
  return begun;
}

bool Pairwise::send(Chunk& next_chunk) {
  if (next_chunk.partner == nullptr) return false;
  const bool begun = outgoing_.start(next_chunk, bytes_in(next_chunk), [&](std::span<std::byte> packed) {
    const PackedMessage& message = next_chunk.partner->message;
    const std::int64_t begin = next_chunk.number * chunk_;
    error_.keep([&] { message.pack(begin, chunk_end(message, next_chunk.number), *source_, packed.data()); });
    return reserve_.again(error_, [&] { return transport_.send(next_chunk.partner->worker, packed); });
  });
  if (begun) next_chunk = next(to_, next_chunk);
  return begun;
}

/// All workers send and receive in the same order: by round, then by chunk. The first message in this order that has
/// not arrived waits for no other one, so there is no deadlock.
void Pairwise::run_between_nodes() {
  Chunk to = first_between_nodes(to_);
  Chunk from = first_between_nodes(from_);
  const auto advance = [&] {
    bool moved = unpack_arrived();
    moved = outgoing_.release() || moved;
    while (receive(from)) moved = true;
    while (send(to)) moved = true;
    return moved;
  };
  const auto done = [&] {
    return to.partner == nullptr && from.partner == nullptr && !outgoing_.any() && !incoming_.any();
  };
  while (!done())
    if (!advance()) transport_.await([&] { return advance() || done(); });
}

void Pairwise::wait_until_taken() {
  for (std::int64_t i = 0; i < plan::kSlots; ++i)
    transport_.gates().wait(slot(transport_.node_rank(), i).taken, last_put_[static_cast<std::size_t>(i)]);
}

}  // namespace plait::exchange
