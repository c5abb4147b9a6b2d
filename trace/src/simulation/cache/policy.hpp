/// The interface of replacement policies, which decide which blocks stay in a cache.
///
/// A policy identifies a block by its slot, a number from 0 to the cache's capacity minus 1. The cache has the table of
/// blocks and assigns slots. A policy is therefore a few arrays indexed by slot. It works in a cache that counts hits
/// as well as in a replay, which stores more for each slot. A policy that must remember blocks that have left the cache
/// stores them itself.
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

/// Use::next of a block that is not used again.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// One use of one block. `next` and `processes` are set only for policies that need them (PolicyKind::foresight),
/// because they require that the whole trace was read before.
struct Use {
  BlockKey key;
  std::uint32_t process = 0;    ///< number of the process, counted from 0
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

  /// True if a block must leave before the used block enters although slots are free, because its process has reached a
  /// limit.
  virtual bool at_limit(const Use&) const { return false; }
  /// Returns a slot whose block leaves although its slot is not needed, and removes it from the policy; kNoSlot:
  /// none.
  virtual Slot tossed() { return kNoSlot; }
};

}  // namespace plait::simulation
