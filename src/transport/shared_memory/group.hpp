/// The workers of one node: a control block in memory that they all see, and what they agree on through it.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "transport/gates.hpp"
#include "transport/shared_memory/departure.hpp"
#include "transport/transport.hpp"

namespace plait::transport::shared_memory {

/// One worker's part of the control block.
struct alignas(64) Member {
  std::array<Slot, Gates::kSlots> slots;
  // Two generations, so that a worker may write its next values while others still read these.
  std::array<std::array<std::int64_t, Transport::kMostValues>, 2> values{};
  std::array<std::byte, Transport::kNoteBytes> note{};
};

/// What the members share besides their parts.
struct alignas(64) Common {
  std::atomic<std::uint32_t> arrived{0};
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::array<std::int64_t, Transport::kMostValues> result{};
  alignas(64) std::array<std::byte, Transport::kMostBroadcast> mailbox{};
};

/// Bytes of a control block for so many members; all zero is its initial state.
std::int64_t control_bytes(int members);

/// The departures in a control block: one for each member, which tells of itself or of those that it has heard of.
std::span<Departure> departures_of(std::byte* control, int members);

/// One member's view of a control block.
class Group : public Gates {
 public:
  Group(std::byte* control, int rank, int size, std::unique_ptr<Liveness> liveness);

  int rank() const { return rank_; }
  int size() const { return size_; }
  Slot& slot(int node_rank, int index) override;
  Liveness& liveness() override { return *liveness_; }

  std::span<Departure> departures() const { return departures_; }
  /// That of this member.
  Departure& departure() const { return departures_[static_cast<std::size_t>(rank_)]; }
  std::span<std::byte> note(int node_rank) { return member(node_rank).note; }

  void barrier();
  /// One barrier.
  void reduce_min(std::span<std::int64_t> values);
  /// Two barriers.
  void broadcast(std::span<std::byte> bytes, int root);
  /// What each member gives.  Two barriers.
  std::vector<std::int64_t> gather(std::int64_t mine);
  /// Member 0 hands values on to the others.  One barrier.
  void hand_out(std::span<std::int64_t> values);

 private:
  Member& member(int index) const;

  Common* common_;
  Member* members_;
  std::span<Departure> departures_;
  int rank_;
  int size_;
  std::unique_ptr<Liveness> liveness_;
  std::uint32_t generation_ = 0;
  std::exception_ptr broken_;  // a member has ended: what the others counted together cannot be trusted any more
  unsigned parity_ = 0;
};

}  // namespace plait::transport::shared_memory
