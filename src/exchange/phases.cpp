// Exchanges the messages of all pairs of a node at once, through windows, in phases.
//
// Problem: with more ranks than cores, each wait for another worker costs a context switch. Pairwise waits once per
// chunk and partner.
//
// Idea: a worker's window has a chunk for every worker of the node. In phase p a worker packs chunk p of all its
// messages, then unpacks chunk p - 1 of all messages to it. With two windows a worker waits only for workers that are
// more than one phase behind.
//
// Example: chunks of 100 elements; worker 0 sends 250 elements to worker 1 and 100 to worker 2. Phase 0 packs 100 for
// each into slot 0, so expected_[0] = 2 chunks will be taken from it. Phase 1 packs 100 for worker 1 into slot 1
// (expected_[1] = 1). Phase 2 packs the last 50 into slot 0, after `taken` of slot 0 has reached 2; then expected_[0] =
// 3. `filled` of a slot is the number of its last phase plus 1, which receivers wait for.

#include "exchange/phases.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "transport/ring.hpp"

namespace plait::exchange {

namespace {

/// Bytes of a worker's window in one phase. Measured with 4 ranks on 2 cores that share 32 MiB of cache: smaller
/// windows cause more context switches, and larger ones are evicted from the cache before they are read.
constexpr std::int64_t kSlotBytes = std::int64_t{4} << 20;

}  // namespace

std::int64_t Phases::chunk_bytes(std::int64_t element_bytes, std::int64_t memory_bytes, int node_size) {
  const std::int64_t slot = std::min(kSlotBytes, memory_bytes / plan::kSlots);
  return slot / node_size / element_bytes * element_bytes;
}

std::int64_t Phases::max_window_bytes(std::int64_t memory_bytes) {
  return plan::kSlots * std::min(kSlotBytes, memory_bytes / plan::kSlots);
}

Phases::Phases(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
               transport::Transport& transport)
    : element_bytes_(element_bytes),
      transport_(transport),
      chunk_(chunk_bytes(element_bytes, memory_bytes, transport.node_size()) / element_bytes),
      slot_bytes_(chunk_ * element_bytes * transport.node_size()),
      to_(plan(pairs, pairs.receivers(transport.rank()), /*sending=*/true)),
      from_(plan(pairs, pairs.senders(transport.rank()), /*sending=*/false)) {}

std::vector<Phases::Partner> Phases::plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks,
                                          bool sending) const {
  std::vector<Partner> result;
  const int me = transport_.rank();
  const int size = transport_.node_size();
  for (const std::int64_t rank : ranks) {
    const int node_rank = transport_.rank_on_node(static_cast<int>(rank));
    if (node_rank < 0 || rank == me) continue;
    const int my_node_rank = transport_.node_rank();
    PackedMessage message(sending ? pairs.products(me, rank) : pairs.products(rank, me),
                          dimension_order(pairs.target()), element_bytes_);
    const std::int64_t phases = base::ceil_divide(message.elements(), chunk_);
    const int distance =
        transport::ring_distance(sending ? my_node_rank : node_rank, sending ? node_rank : my_node_rank, size);
    result.push_back({node_rank, distance, std::move(message), phases});
  }
  std::sort(result.begin(), result.end(), [](const Partner& a, const Partner& b) { return a.distance < b.distance; });
  return result;
}

std::int64_t Phases::phase_end(const Partner& partner, std::int64_t phase) const {
  return std::min((phase + 1) * chunk_, partner.message.elements());
}

void Phases::run(const copy::LocalArray* from, const copy::LocalArray* to) {
  windows_ = &transport_.windows(staging_bytes());
  expected_ = {};
  error_.clear();
  std::int64_t puts = 0;
  std::int64_t takes = 0;
  for (const Partner& partner : to_) puts = std::max(puts, partner.phases);
  for (const Partner& partner : from_) takes = std::max(takes, partner.phases);
  for (std::int64_t phase = 0; phase < std::max(puts, takes + 1); ++phase) {
    if (phase < puts) put(phase, *from);
    if (phase > 0 && phase <= takes) take(phase - 1, *to);
  }
  // Another user may overwrite the windows after this call, so all chunks must be taken before.
  for (std::int64_t i = 0; i < plan::kSlots; ++i)
    transport_.gates().wait(slot(transport_.node_rank(), i).taken, expected_[static_cast<std::size_t>(i)]);
  error_.rethrow();
}

void Phases::put(std::int64_t phase, const copy::LocalArray& from) {
  const int me = transport_.node_rank();
  transport::Slot& own_slot = slot(me, phase);
  std::uint32_t& expected = expected_[static_cast<std::size_t>(phase % plan::kSlots)];
  transport_.gates().wait(own_slot.taken, expected);
  for (const Partner& partner : to_) {
    if (phase >= partner.phases) continue;
    ++expected;
    error_.keep([&] {
      partner.message.pack(phase_begin(phase), phase_end(partner, phase), from,
                           chunk(*windows_, me, partner.node_rank, phase));
    });
  }
  // Release: receivers see all chunks of the phase when they see its number.
  own_slot.filled.store(static_cast<std::uint32_t>(phase) + 1, std::memory_order_release);
  transport::wake_all(own_slot.filled);
}

void Phases::take(std::int64_t phase, const copy::LocalArray& to) {
  for (const Partner& partner : from_) {
    if (phase >= partner.phases) continue;
    transport::Slot& peer_slot = slot(partner.node_rank, phase);
    transport_.gates().wait(peer_slot.filled, static_cast<std::uint32_t>(phase) + 1);
    error_.keep([&] {
      partner.message.unpack(phase_begin(phase), phase_end(partner, phase),
                             chunk(*windows_, partner.node_rank, transport_.node_rank(), phase), to);
    });
    transport::Gates::raise(peer_slot.taken);
  }
}

}  // namespace plait::exchange
