/// The workers of one node: a control block in memory that they share, and agreements through it.
#pragma once

#include <array>
#include <atomic>
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
  std::array<std::atomic<std::int64_t>, Gates::kMarks> marks;
  // Two generations, so that a worker may write its next values while others still read the previous ones.
  std::array<std::array<std::int64_t, Transport::kMaxValues>, 2> values{};
  std::array<std::byte, Transport::kNoteBytes> note{};
};

/// The part of the control block that belongs to no single member.
struct alignas(64) Common {
  std::atomic<std::uint32_t> arrived{0};
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::array<std::int64_t, Transport::kMaxValues> result{};
};

/// Memory for broadcasts, at the end of the control block; a group of one member has none.  Like the values of members,
/// it has two generations.
using Mailbox = std::array<std::array<std::byte, Transport::kMaxBroadcast>, 2>;

/// Returns the bytes of a control block for `members` members; its initial state is all zero.
std::int64_t control_bytes(int members);

/// Returns the departures in a control block, one for each member (departure.hpp).
std::span<Departure> find_departures(std::byte* control, int members);

/// One member's view of a control block.
class Group : public Gates {
 public:
  Group(std::byte* control, int rank, int size, std::unique_ptr<Liveness> liveness);

  int rank() const { return rank_; }
  int size() const { return size_; }
  Slot& slot(int node_rank, int index) override;
  Liveness& liveness() override { return *liveness_; }
  std::span<std::atomic<std::int64_t>> marks(int node_rank) override { return member(node_rank).marks; }

  std::span<Departure> departures() const { return departures_; }
  /// Returns the departure of this member.
  Departure& departure() const { return departures_[static_cast<std::size_t>(rank_)]; }
  std::span<std::byte> note(int node_rank) { return member(node_rank).note; }

  void barrier();
  /// Each value becomes the smallest value that any member has passed.  Costs one barrier.
  void reduce_min(std::span<std::int64_t> values);
  /// Copies the bytes of member `root` to all members.  Costs one barrier.
  void broadcast(std::span<std::byte> bytes, int root);
  /// Returns the value of each member, by rank.  Overwrites the members' notes.  Costs two barriers.
  std::vector<std::int64_t> gather(std::int64_t value);
  /// Copies values of member 0 to the others.  Costs one barrier.
  void broadcast_values(std::span<std::int64_t> values);

 private:
  Member& member(int index) const;

  Common* common_;
  Member* members_;
  std::span<Departure> departures_;
  Mailbox* mailbox_;
  int rank_;
  int size_;
  std::unique_ptr<Liveness> liveness_;
  std::uint32_t generation_ = 0;
  std::exception_ptr broken_;    // set after a failed wait: the shared counters are inconsistent from then on
  unsigned parity_ = 0;          // the generation of Member::values in use
  unsigned mailbox_parity_ = 0;  // the generation of the mailbox in use
};

}  // namespace plait::transport::shared_memory
