/// Policies for data that is read once: a block leaves after its use, before its slot is needed. Sources: M.
/// Stonebraker, "Operating system support for database management", Communications of the ACM 24(7), 1981; for
/// parallel programs R. Bordawekar, thesis (1993), section 2.5, after D. Kotz.
///
/// A process has finished a block when it uses another one; until then, further requests of the process for parts of
/// the block hit it. `toss` drops the block when the process has finished it. `toss-parallel` drops it when all
/// processes that use it anywhere in the trace have finished it since it arrived. If a slot is needed earlier, the
/// least recently used block leaves.
///
/// Example for toss-parallel: processes 0 and 1 use block A, then process 0 uses B. Process 0 has finished A
/// (finished_processes = 1 of 2), and A stays. When process 1 uses B as well, finished_processes = 2 and A leaves. A
/// process that uses A twice counts once: `finished_bits_` has a bit for each process.
#include <algorithm>
#include <utility>
#include <vector>

#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

/// The time that a block spends in a slot, from its arrival until it leaves.
struct Stay {
  // Number of this stay in its slot. A process that remembers an older number used a block that has left since.
  std::uint64_t stay_number = 0;
  std::uint32_t processes = 1;  // number of processes that must finish the block
  std::uint32_t finished_processes = 0;
};

template <bool kParallel>
class Toss final : public Policy {
 public:
  Toss(const CacheShape& shape, const Parameters&)
      : words_per_slot_(kParallel ? (shape.processes + std::size_t{63}) / 64 : 0) {}

  void hit(Slot slot, const Use& use) override {
    links_.move_to_front(list_, slot);
    set_current(slot, use);
  }

  void admit(Slot slot, const Use& use) override {
    links_.add(list_, slot);
    Stay& stay = stays_.find_or_create(slot);
    stay = {stay.stay_number + 1, kParallel ? use.processes : 1, 0};
    if (finished_bits_.size() < (slot + std::size_t{1}) * words_per_slot_)
      finished_bits_.resize((slot + std::size_t{1}) * words_per_slot_);
    std::fill_n(finished_bits_.begin() + static_cast<std::ptrdiff_t>(slot * words_per_slot_), words_per_slot_, 0);
    set_current(slot, use);
  }

  Slot victim(const Use& use) override {
    const Slot finished_slot = finish_current(use.process);
    return drop(finished_slot == kNoSlot ? list_.back : finished_slot);
  }

  void removed(Slot slot) override { drop(slot); }

  Slot tossed() override {
    if (tossed_ == kNoSlot) return kNoSlot;
    const Slot slot = tossed_;
    tossed_ = kNoSlot;
    return drop(slot);
  }

 private:
  struct CurrentBlock {
    Slot slot = kNoSlot;
    std::uint64_t stay = 0;
  };

  void set_current(Slot slot, const Use& use) {
    if (use.process >= current_.size()) current_.resize(use.process + std::size_t{1});
    if (current_[use.process].slot != slot) tossed_ = finish_current(use.process);
    current_[use.process] = {slot, stays_[slot].stay_number};
  }

  /// Finishes the block that a process used last. Returns its slot if all processes have finished it; otherwise
  /// kNoSlot.
  Slot finish_current(std::uint32_t process) {
    if (process >= current_.size()) return kNoSlot;
    const auto [slot, stay_number] = std::exchange(current_[process], CurrentBlock());
    if (slot == kNoSlot || stays_[slot].stay_number != stay_number) return kNoSlot;
    Stay& stay = stays_[slot];
    if (kParallel) {
      std::uint64_t& word = finished_bits_[slot * words_per_slot_ + process / 64];
      const std::uint64_t bit = std::uint64_t{1} << (process % 64);
      if ((word & bit) != 0) return kNoSlot;
      word |= bit;
    }
    return ++stay.finished_processes >= stay.processes ? slot : kNoSlot;
  }

  Slot drop(Slot slot) {
    links_.erase(list_, slot);
    ++stays_[slot].stay_number;
    return slot;
  }

  SlotLinks links_;
  SlotList list_;  // the most recently used block is at the front
  SlotTable<Stay> stays_;
  std::size_t words_per_slot_;                // words of each slot, with one bit per process
  std::vector<std::uint64_t> finished_bits_;  // bits of the processes that have finished the block of each slot
  std::vector<CurrentBlock> current_;         // the block that each process used last
  Slot tossed_ = kNoSlot;
};

}  // namespace

const PolicyKind& toss() {
  static const PolicyKind kKind =
      policy_kind<Toss<false>>("toss", "each at once when the process that used it uses another");
  return kKind;
}

const PolicyKind& toss_parallel() {
  static const PolicyKind kKind = policy_kind<Toss<true>>(
      "toss-parallel", "each at once when all processes that use it in the trace have used another", {},
      Foresight::kProcesses);
  return kKind;
}

}  // namespace plait::simulation
