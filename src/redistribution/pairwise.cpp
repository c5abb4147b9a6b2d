#include "redistribution/pairwise.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::redistribution {

namespace {

/// Messages of a pair on a node are counted in windows by 19 bits, rounds by 12.
constexpr std::int64_t kMostChunks = (std::int64_t{1} << 19) - 2;
constexpr int kMostNodeSize = 4096;

/// Elements of the longest local array, halo included.
std::int64_t longest_array(const Layout& layout) {
  std::int64_t product = 1;
  for (int d = 0; d < layout.dimensions(); ++d)
    product = base::checked_multiply(product, layout.longest_local(d) + layout.halo(d).lo + layout.halo(d).hi,
                                     "elements of the longest local array");
  return product;
}

/// Elements of a window: the same on every rank.
std::int64_t chunk_for(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
                       const transport::Transport& transport) {
  const std::int64_t buffers = plan::kSlots + (transport.nodes_apart() ? 2 : 0);
  const std::int64_t most = memory_bytes / buffers / element_bytes;
  // A halo that wraps around gets elements more than once, so what the sender has says nothing then.
  std::int64_t longest = longest_array(pairs.target());
  if (!pairs.fill_halo()) longest = std::min(longest, longest_array(pairs.source()));
  const std::int64_t needed = std::max<std::int64_t>(base::ceil_divide(longest, kMostChunks), 1);
  if (most < needed)
    throw Error(ErrorKind::kArgument,
                base::text("memory=", memory_bytes, " bytes are too few for this redistribution; use at least ",
                           buffers * needed * element_bytes));
  if (transport.node_size() > kMostNodeSize)
    throw Error(ErrorKind::kArgument, base::text(transport.node_size(), " ranks on one node; at most ", kMostNodeSize,
                                                 " can redistribute together"));
  return std::max(needed, std::min(most, std::max<std::int64_t>(plan::kWindowBytes / element_bytes, 1)));
}

/// A number that grows from chunk to chunk and from round to round, the same for both ends of a pair on a node.
std::uint32_t stamp(std::int64_t distance, std::int64_t chunk) {
  return static_cast<std::uint32_t>(distance * (kMostChunks + 2) + chunk + 1);
}

}  // namespace

Pairwise::Pairwise(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
                   transport::Transport& transport)
    : element_bytes_(element_bytes),
      transport_(transport),
      chunk_(chunk_for(pairs, element_bytes, memory_bytes, transport)),
      to_(plan(pairs, pairs.receivers_of(transport.rank()), true)),
      from_(plan(pairs, pairs.senders_of(transport.rank()), false)),
      outgoing_(transport),
      incoming_(transport) {
  if (transport.nodes_apart()) {
    outgoing_.allocate(static_cast<std::size_t>(chunk_ * element_bytes));
    incoming_.allocate(outgoing_.size());
  }
}

std::vector<Pairwise::Partner> Pairwise::plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks,
                                              bool sending) const {
  std::vector<Partner> result;
  const int me = transport_.rank();
  for (const std::int64_t rank : ranks) {
    const int worker = static_cast<int>(rank);
    if (worker == me) continue;
    const int position = transport_.node_rank_of(worker);
    const int size = position < 0 ? transport_.size() : transport_.node_size();
    const int ahead = position < 0 ? worker - me : position - transport_.node_rank();
    result.push_back({position < 0, ((sending ? ahead : -ahead) + size) % size, worker,
                      PackedMessage(sending ? pairs.products(me, rank) : pairs.products(rank, me),
                                    order_of(pairs.target()), element_bytes_)});
  }
  std::sort(result.begin(), result.end(), [](const Partner& a, const Partner& b) { return a.key() < b.key(); });
  return result;
}

std::int64_t Pairwise::staging_bytes() const {
  return chunk_bytes() * plan::kSlots + static_cast<std::int64_t>(outgoing_.size() + incoming_.size());
}

std::span<std::byte> Pairwise::bytes_of(collective::MessageBuffer& buffer, const PackedMessage& message,
                                        std::int64_t chunk) const {
  return buffer.first(static_cast<std::size_t>((chunk_end(message, chunk) - chunk * chunk_) * element_bytes_));
}

void Pairwise::run(const copy::LocalArray* from, const copy::LocalArray* to, bool inside) {
  source_ = from;
  target_ = to;
  error_.clear();
  last_put_ = {};
  // Other nodes may need theirs: all make them together.
  if (inside || transport_.nodes_apart()) windows_ = &transport_.windows(plan::kSlots * chunk_ * element_bytes_);
  const auto wanted = [&](const Partner& partner) { return inside || partner.remote; };
  auto next_to = std::find_if(to_.begin(), to_.end(), wanted);
  auto next_from = std::find_if(from_.begin(), from_.end(), wanted);
  while (next_to != to_.end() || next_from != from_.end()) {
    auto key = next_to != to_.end() ? next_to->key() : next_from->key();
    if (next_from != from_.end()) key = std::min(key, next_from->key());
    const bool sends = next_to != to_.end() && next_to->key() == key;
    const bool receives = next_from != from_.end() && next_from->key() == key;
    round(sends ? &*next_to++ : nullptr, receives ? &*next_from++ : nullptr);
  }
  if (inside) wait_until_taken();
  if (sending_) std::exchange(sending_, nullptr)->complete();
  error_.rethrow();
}

void Pairwise::round(const Partner* to, const Partner* from) {
  const std::int64_t puts = to != nullptr ? base::ceil_divide(to->message.elements(), chunk_) : 0;
  const std::int64_t takes = from != nullptr ? base::ceil_divide(from->message.elements(), chunk_) : 0;
  // One window each way in turn: the worker that is furthest behind can always go on.
  for (std::int64_t i = 0; i < std::max(puts, takes); ++i) {
    if (i < puts) put(*to, i);
    if (i < takes) take(*from, i);
  }
}

void Pairwise::put(const Partner& to, std::int64_t chunk) {
  const std::int64_t end = chunk_end(to.message, chunk);
  if (to.remote) {
    if (sending_) std::exchange(sending_, nullptr)->complete();
    error_.keep([&] { to.message.pack(chunk * chunk_, end, *source_, outgoing_.data()); });
    sending_ =
        reserve_.again(error_, [&] { return transport_.send(to.worker, bytes_of(outgoing_, to.message, chunk)); });
    return;
  }
  const int me = transport_.node_rank();
  transport::Slot& own = slot(me, chunk);
  std::uint32_t& last = last_put_[static_cast<std::size_t>(chunk % plan::kSlots)];
  transport_.gates().wait(own.taken, last);
  error_.keep([&] { to.message.pack(chunk * chunk_, end, *source_, window(me, chunk)); });
  last = stamp(to.distance, chunk);
  own.filled.store(last, std::memory_order_release);
  transport::wake_all(own.filled);
}

void Pairwise::take(const Partner& from, std::int64_t chunk) {
  const std::int64_t end = chunk_end(from.message, chunk);
  if (from.remote) {
    const auto bytes = bytes_of(incoming_, from.message, chunk);
    reserve_.again(error_, [&] { return transport_.receive(from.worker, bytes); })->complete();
    error_.keep([&] { from.message.unpack(chunk * chunk_, end, bytes.data(), *target_); });
    return;
  }
  const int peer = transport_.node_rank_of(from.worker);
  transport::Slot& theirs = slot(peer, chunk);
  transport_.gates().wait(theirs.filled, stamp(from.distance, chunk));
  error_.keep([&] { from.message.unpack(chunk * chunk_, end, window(peer, chunk), *target_); });
  theirs.taken.store(stamp(from.distance, chunk), std::memory_order_release);
  transport::wake_all(theirs.taken);
}

void Pairwise::wait_until_taken() {
  for (std::int64_t i = 0; i < plan::kSlots; ++i)
    transport_.gates().wait(slot(transport_.node_rank(), i).taken, last_put_[static_cast<std::size_t>(i)]);
}

}  // namespace plait::redistribution
