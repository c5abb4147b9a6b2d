/// What decides which blocks a cache keeps.
///
/// A policy sees blocks by the slots that they lie in, dense numbers from 0 to below the cache's capacity; whoever owns
/// the cache keeps the table of blocks and hands out slots.  So a policy is a few arrays indexed by slot, and serves the
/// mere counting of hits as well as a replay that keeps more for each slot.  What a policy remembers of blocks that have
/// left the cache is its own.
#pragma once

#include <cstdint>
#include <limits>

namespace plait::simulation {

/// A block of a file.
struct BlockKey {
  std::uint64_t block = 0;  ///< offset / size of a block
  std::uint32_t file = 0;

  bool operator==(const BlockKey&) const = default;
};

using Slot = std::uint32_t;
constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// That a block is not used again.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// One use of one block.  The last two are known only where whoever counts has looked at the whole trace before, which
/// is done for policies that need it (PolicyKind::foresight).
struct Use {
  BlockKey key;
  std::uint32_t process = 0;    ///< a dense number
  std::int64_t next = kNever;   ///< when the block is used next: the number of that use in the trace
  std::uint32_t processes = 0;  ///< how many processes use the block in the whole trace
};

/// A cache of a fixed number of slots is driven so, for each use in turn:
///
///   resident       hit(slot)
///   not resident   victim() where no slot is free or at_limit(); then admit(slot), the freed slot or another free one
///   either         then tossed() until it gives none; each slot that it gives is free
///
/// cost     O(1) a use, some amortised; O(log blocks) for Belady.  memory: in proportion to the largest slot that was used
///          and, for what is remembered of blocks that left, to the capacity.
/// threads  one at a time.
class Policy {
 public:
  virtual ~Policy() = default;

  /// The block in `slot` is used.
  virtual void hit(Slot slot, const Use& use) = 0;
  /// The block used was not resident and now lies in `slot`.
  virtual void admit(Slot slot, const Use& use) = 0;
  /// The slot whose block goes to make room for the one used.  The policy has let go of it on return.  Called only
  /// where at least one block is resident.
  virtual Slot victim(const Use& use) = 0;
  /// The block in `slot` has gone for a reason of its own, such as a file that was removed.
  virtual void removed(Slot slot) = 0;

  /// Whether a block must go before the one used may come though slots are free: limits for each process.
  virtual bool at_limit(const Use&) const { return false; }
  /// A slot whose block goes now though nobody needs its room; kNoSlot: none.  The policy has let go of it on return.
  virtual Slot tossed() { return kNoSlot; }
};

}  // namespace plait::simulation
