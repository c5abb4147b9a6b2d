#include "engine/redistribute.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "engine/message.hpp"
#include "plait/conversion.hpp"
#include "plait/error.hpp"
#include "plan/access.hpp"
#include "transport/gates.hpp"

namespace plait::engine {

namespace {

using transport::Gates;

/// A partner by its place in the schedule: this node's workers first.
struct Partner {
  bool remote = false;
  std::int64_t distance = 0;
  int worker = 0;

  auto key() const { return std::pair(remote, distance); }
};

/// Messages of a pair on a node are counted in windows by 19 bits, rounds by 12.
constexpr std::int64_t kMostChunks = (std::int64_t{1} << 19) - 2;
constexpr int kMostNodeSize = 4096;

/// No message is longer than the longest local array of either side.
std::int64_t longest_message(const Layout& source, const Layout& target) {
  const auto longest = [](const Layout& layout) {
    std::int64_t product = 1;
    for (int d = 0; d < layout.dimensions(); ++d) product *= layout.longest_local(d);
    return product;
  };
  return std::min(longest(source), longest(target));
}

/// Elements of a window: the same on every rank.
std::int64_t chunk_for(const Layout& source, const Layout& target, std::int64_t element_bytes,
                       std::int64_t memory_bytes, const transport::Transport& transport) {
  const std::int64_t buffers = plan::kSlots + (transport.nodes_apart() ? 2 : 0);
  const std::int64_t most = memory_bytes / buffers / element_bytes;
  const std::int64_t needed =
      std::max<std::int64_t>(base::ceil_divide(longest_message(source, target), kMostChunks), 1);
  if (most < needed)
    throw Error(ErrorKind::kArgument,
                base::text("memory=", memory_bytes, " bytes are too few for this redistribution; use at least ",
                           buffers * needed * element_bytes));
  if (transport.node_size() > kMostNodeSize)
    throw Error(ErrorKind::kArgument, base::text(transport.node_size(), " ranks on one node; at most ", kMostNodeSize,
                                                 " can redistribute together"));
  return std::max(needed, std::min(most, std::max<std::int64_t>(plan::kWindowBytes / element_bytes, 1)));
}

class Redistribution : public Move {
 public:
  Redistribution(const Layout& source, const LocalArray& from, const Layout& target, const LocalArray& to,
                 std::int64_t element_bytes, std::int64_t memory_bytes, transport::Transport& transport)
      : source_(source),
        from_(from),
        target_(target),
        to_(to),
        element_bytes_(element_bytes),
        transport_(transport),
        chunk_(chunk_for(source, target, element_bytes, memory_bytes, transport)) {
    if (transport.nodes_apart()) {
      outgoing_.resize(static_cast<std::size_t>(chunk_ * element_bytes));
      incoming_.resize(outgoing_.size());
    }
  }

  void run() override {
    windows_ = &transport_.windows(plan::kSlots * chunk_ * element_bytes_);
    const Conversion conversion(source_, target_);
    const std::vector<Partner> receivers = schedule(conversion.sends(transport_.rank()), true);
    const std::vector<Partner> senders = schedule(conversion.receives(transport_.rank()), false);
    std::size_t next_to = 0;
    std::size_t next_from = 0;
    while (next_to < receivers.size() || next_from < senders.size()) {
      auto key = next_to < receivers.size() ? receivers[next_to].key() : senders[next_from].key();
      if (next_from < senders.size()) key = std::min(key, senders[next_from].key());
      const bool sends = next_to < receivers.size() && receivers[next_to].key() == key;
      const bool receives = next_from < senders.size() && senders[next_from].key() == key;
      round(sends ? &receivers[next_to++] : nullptr, receives ? &senders[next_from++] : nullptr);
    }
    wait_until_taken();
    if (sending_) std::exchange(sending_, nullptr)->complete();
  }

 private:
  std::vector<Partner> schedule(const std::vector<Message>& messages, bool behind) {
    std::vector<Partner> result;
    const int rank = transport_.rank();
    for (const Message& message : messages) {
      const int worker = static_cast<int>(message.rank);
      if (worker == rank) {
        if (behind) PackedMessage(source_, rank, target_, rank, element_bytes_).copy(from_, to_);
        continue;
      }
      const int place = transport_.place_on_node(worker);
      const int size = place < 0 ? transport_.size() : transport_.node_size();
      const int ahead = place < 0 ? worker - rank : place - transport_.node_rank();
      result.push_back({place < 0, ((behind ? ahead : -ahead) + size) % size, worker});
    }
    std::sort(result.begin(), result.end(), [](const Partner& a, const Partner& b) { return a.key() < b.key(); });
    return result;
  }

  void round(const Partner* to, const Partner* from) {
    const int rank = transport_.rank();
    std::unique_ptr<PackedMessage> out;
    std::unique_ptr<PackedMessage> in;
    if (to != nullptr) out = std::make_unique<PackedMessage>(source_, rank, target_, to->worker, element_bytes_);
    if (from != nullptr) in = std::make_unique<PackedMessage>(source_, from->worker, target_, rank, element_bytes_);
    const std::int64_t puts = out ? base::ceil_divide(out->elements(), chunk_) : 0;
    const std::int64_t takes = in ? base::ceil_divide(in->elements(), chunk_) : 0;
    // One window each way in turn: the worker that is furthest behind can always go on.
    for (std::int64_t i = 0; i < std::max(puts, takes); ++i) {
      if (i < puts) put(*to, *out, i);
      if (i < takes) take(*from, *in, i);
    }
  }

  /// A number that grows from chunk to chunk and from round to round, the same for both ends of a pair on a node.
  static std::uint32_t stamp(const Partner& partner, std::int64_t chunk) {
    return static_cast<std::uint32_t>(partner.distance * (kMostChunks + 2) + chunk + 1);
  }

  transport::Slot& slot(int node_rank, std::int64_t chunk) const {
    return transport_.gates().slot(node_rank, static_cast<int>(chunk % plan::kSlots));
  }
  std::byte* window(int node_rank, std::int64_t chunk) const {
    return windows_->part(node_rank) + chunk % plan::kSlots * chunk_ * element_bytes_;
  }
  std::int64_t chunk_end(const PackedMessage& message, std::int64_t chunk) const {
    return std::min((chunk + 1) * chunk_, message.elements());
  }

  void put(const Partner& to, const PackedMessage& message, std::int64_t chunk) {
    if (to.remote) {
      if (sending_) std::exchange(sending_, nullptr)->complete();
      message.pack(chunk * chunk_, chunk_end(message, chunk), from_, outgoing_.data());
      sending_ = transport_.send(to.worker, bytes_of(outgoing_, message, chunk));
      return;
    }
    const int me = transport_.node_rank();
    transport::Slot& own = slot(me, chunk);
    std::uint32_t& last = last_put_[static_cast<std::size_t>(chunk % plan::kSlots)];
    transport_.gates().wait(own.taken, last);
    message.pack(chunk * chunk_, chunk_end(message, chunk), from_, window(me, chunk));
    last = stamp(to, chunk);
    own.filled.store(last, std::memory_order_release);
    transport::wake_all(own.filled);
  }

  void take(const Partner& from, const PackedMessage& message, std::int64_t chunk) {
    if (from.remote) {
      const auto bytes = bytes_of(incoming_, message, chunk);
      transport_.receive(from.worker, bytes)->complete();
      message.unpack(chunk * chunk_, chunk_end(message, chunk), bytes.data(), to_);
      return;
    }
    const int peer = transport_.place_on_node(from.worker);
    transport::Slot& theirs = slot(peer, chunk);
    transport_.gates().wait(theirs.filled, stamp(from, chunk));
    message.unpack(chunk * chunk_, chunk_end(message, chunk), window(peer, chunk), to_);
    theirs.taken.store(stamp(from, chunk), std::memory_order_release);
    transport::wake_all(theirs.taken);
  }

  void wait_until_taken() {
    for (std::int64_t i = 0; i < plan::kSlots; ++i)
      transport_.gates().wait(slot(transport_.node_rank(), i).taken, last_put_[static_cast<std::size_t>(i)]);
  }

  std::span<std::byte> bytes_of(std::vector<std::byte>& buffer, const PackedMessage& message,
                                std::int64_t chunk) const {
    return std::span(buffer).first(
        static_cast<std::size_t>((chunk_end(message, chunk) - chunk * chunk_) * element_bytes_));
  }

  const Layout& source_;
  const LocalArray& from_;
  const Layout& target_;
  const LocalArray& to_;
  std::int64_t element_bytes_;
  transport::Transport& transport_;
  std::int64_t chunk_;  // elements of a window
  transport::SharedWindows* windows_ = nullptr;
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
  std::unique_ptr<transport::Ticket> sending_;
  std::array<std::uint32_t, plan::kSlots> last_put_{};
};

}  // namespace

std::unique_ptr<Move> make_redistribution(const Layout& source, const LocalArray& from, const Layout& target,
                                          const LocalArray& to, std::int64_t element_bytes, std::int64_t memory_bytes,
                                          transport::Transport& transport) {
  return std::make_unique<Redistribution>(source, from, target, to, element_bytes, memory_bytes, transport);
}

void gather_rank(const Layout& source, std::span<const LocalArray> from, const Layout& target, const LocalArray& to,
                 std::int64_t element_bytes) {
  for (const Message& message : Conversion(source, target).receives(to.rank))
    PackedMessage(source, message.rank, target, to.rank, element_bytes)
        .copy(from[static_cast<std::size_t>(message.rank)], to);
}

}  // namespace plait::engine
