// Barriers, minima and broadcasts of the workers of one node, through a control block in shared memory.
//
// barrier(): each worker adds 1 to `arrived`. The last one resets it to 0 and raises `generation`, for which the others
// wait. Each worker counts the generations itself, so that nothing else must be reset.
//
// reduce_min() needs only one barrier, because values have two generations. Example with workers A and B: both write to
// half 1 and pass the barrier. A is fast, reads half 1, and begins the next reduction, where it writes to half 0, while
// B still reads half 1. A writes to half 1 again only after the next barrier, which B enters after it has read half 1.
// broadcast() uses the two halves of the mailbox in the same way.

#include "transport/shared_memory/group.hpp"

#include <algorithm>
#include <cstring>

namespace plait::transport::shared_memory {

std::int64_t control_bytes(int members) {
  return static_cast<std::int64_t>(sizeof(Common)) +
         static_cast<std::int64_t>(sizeof(Member) + sizeof(Departure)) * members +
         (members > 1 ? static_cast<std::int64_t>(sizeof(Mailbox)) : 0);
}

std::span<Departure> find_departures(std::byte* control, int members) {
  const auto count = static_cast<std::size_t>(members);
  return {reinterpret_cast<Departure*>(control + sizeof(Common) + sizeof(Member) * count), count};
}

Group::Group(std::byte* control, int rank, int size, std::unique_ptr<Liveness> liveness)
    : common_(reinterpret_cast<Common*>(control)),
      members_(reinterpret_cast<Member*>(control + sizeof(Common))),
      departures_(find_departures(control, size)),
      mailbox_(reinterpret_cast<Mailbox*>(departures_.data() + departures_.size())),
      rank_(rank),
      size_(size),
      liveness_(std::move(liveness)) {}

Member& Group::member(int index) const { return members_[index]; }

Slot& Group::slot(int node_rank, int index) { return member(node_rank).slots[static_cast<std::size_t>(index)]; }

void Group::barrier() {
  // A worker whose wait has failed cannot take back its arrival, so every later barrier would be inconsistent.
  if (broken_) std::rethrow_exception(broken_);
  ++generation_;
  const auto everyone = static_cast<std::uint32_t>(size_);
  // The last worker to arrive acquires, through the additions before its own, what all workers have written, and
  // publishes it by raise().
  if (common_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == everyone) {
    // Relaxed: a worker arrives for the next barrier only after it has seen this one's generation, which is raised
    // afterwards.
    common_->arrived.store(0, std::memory_order_relaxed);
    raise(common_->generation);
    return;
  }
  try {
    wait(common_->generation, generation_);
  } catch (...) {
    broken_ = std::current_exception();
    throw;
  }
}

void Group::reduce_min(std::span<std::int64_t> values) {
  if (size_ == 1) return;
  // One barrier is enough: a faster worker writes its next values to the other half, and returns to this one only after
  // a barrier that all workers enter after they have read this one.
  parity_ ^= 1U;
  std::copy(values.begin(), values.end(), member(rank_).values[parity_].begin());
  barrier();
  for (int peer = 0; peer < size_; ++peer)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], member(peer).values[parity_][i]);
}

void Group::broadcast(std::span<std::byte> bytes, int root) {
  if (size_ == 1) return;
  // One barrier is enough, as in reduce_min().
  mailbox_parity_ ^= 1U;
  std::array<std::byte, Transport::kMaxBroadcast>& half = (*mailbox_)[mailbox_parity_];
  if (rank_ == root) std::copy(bytes.begin(), bytes.end(), half.begin());
  barrier();
  if (rank_ != root) std::copy_n(half.begin(), bytes.size(), bytes.begin());
}

std::vector<std::int64_t> Group::gather(std::int64_t value) {
  // Allocate first: a failure must not leave the others waiting in the barrier.
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  std::memcpy(member(rank_).note.data(), &value, sizeof value);
  barrier();
  for (int peer = 0; peer < size_; ++peer)
    std::memcpy(&values[static_cast<std::size_t>(peer)], member(peer).note.data(), sizeof value);
  barrier();
  return values;
}

void Group::broadcast_values(std::span<std::int64_t> values) {
  if (size_ == 1) return;
  if (rank_ == 0) std::copy(values.begin(), values.end(), common_->result.begin());
  barrier();
  std::copy_n(common_->result.begin(), values.size(), values.begin());
}

}  // namespace plait::transport::shared_memory
