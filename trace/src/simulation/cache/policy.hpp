/// The interface of replacement policies, which decide which blocks stay in a cache.
///
/// A policy identifies blocks by their slots, dense numbers from 0 to below the cache's capacity. The owner of the
/// cache keeps the table of blocks and assigns slots. A policy is therefore a few arrays indexed by slot, and serves
/// both the counting of hits and a replay that stores more for each slot. Blocks that have left the cache are
/// remembered by the policy itself, if it needs them.
#pragma once

#include <cstdint>
#include <limits>

namespace plait::simulation {

/// A block of a file.
struct BlockKey {
  std::uint64_t block = 0;  ///< offset / block size
  std::uint32_t file = 0;

  bool operator==(const BlockKey&) const = default;
};

using Slot = std::uint32_t;
constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// The block is not used again.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// One use of one block. The last two fields are known only if the whole trace was read before, which is done for
/// policies that need it (PolicyKind::foresight).
struct Use {
  BlockKey key;
  std::uint32_t process = 0;    ///< dense number
  std::int64_t next = kNever;   ///< position in the trace of the next use of the block
  std::uint32_t processes = 0;  ///< number of processes that use the block in the whole trace
};

/// A cache calls its policy as follows, for each use in turn:
///
///   resident       hit(slot)
///   not resident   victim() if no slot is free or at_limit(); then admit(slot) with the freed slot or another free one
///   either         then tossed() until it returns kNoSlot; each slot that it returns is free
///
/// cost     O(1) a use, some amortised; O(log blocks) for Belady.
/// memory   in proportion to the largest slot used; for remembered blocks, to the capacity.
/// threads  one at a time.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Records a use of the block in `slot`.
  virtual void hit(Slot slot, const Use& use) = 0;
  /// Records that the block, which was not resident, is now in `slot`.
  virtual void admit(Slot slot, const Use& use) = 0;
  /// Returns the slot whose block is replaced, and removes it from the policy. At least one block is resident.
  virtual Slot victim(const Use& use) = 0;
  /// Records that the block in `slot` left for another reason, such as the removal of its file.
  virtual void removed(Slot slot) = 0;

  /// True if a block must leave before the used one enters although slots are free: limits of processes.
  virtual bool at_limit(const Use&) const { return false; }
  /// Returns a slot whose block leaves although its slot is not needed, and removes it from the policy; kNoSlot:
  /// none.
  virtual Slot tossed() { return kNoSlot; }
};

}  // namespace plait::simulation
