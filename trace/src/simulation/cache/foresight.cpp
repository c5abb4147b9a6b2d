// Computes, for all uses at once, what some policies must know about the rest of the trace.
//
// Idea: the next use of each block comes from one pass backwards, which remembers the last position seen of each
// block. The number of processes comes from two passes: the first counts distinct pairs of a block and a process.
//
// Example: blocks A B A. The pass from the end sets next = kNever for the last A, kNever for B, and 2 for the first
// A.

#include "simulation/cache/foresight.hpp"

#include <vector>

#include "base/errors.hpp"
#include "simulation/cache/block_table.hpp"

namespace plait::simulation {

namespace {

/// Numbers blocks from 0 in the order in which they appear.
class BlockNumbers {
 public:
  /// Returns the number of a block. Sets `is_new` to true if it was not numbered before.
  Slot find_or_add(BlockKey key, bool& is_new) {
    Slot number = table_.find(key);
    is_new = number == kNoSlot;
    if (!is_new) return number;
    if (table_.size() >= kNoSlot - 1)
      base::throw_argument_error(
          "the trace uses more than 4294967294 blocks; policies that look ahead take fewer, so give larger blocks");
    number = static_cast<Slot>(table_.size());
    table_.insert(key, number);
    return number;
  }

 private:
  BlockTable table_;
};

void set_next_uses(std::span<Use> uses) {
  BlockNumbers blocks;
  std::vector<std::int64_t> next;
  for (std::size_t k = uses.size(); k-- > 0;) {
    bool is_new = false;
    const Slot block = blocks.find_or_add(uses[k].key, is_new);
    if (is_new) next.push_back(kNever);
    uses[k].next = next[block];
    next[block] = static_cast<std::int64_t>(k);
  }
}

void count_processes(std::span<Use> uses) {
  BlockNumbers blocks;
  BlockNumbers pairs;  // numbers pairs of a block and a process
  std::vector<std::uint32_t> processes;
  for (const Use& use : uses) {
    bool is_new = false;
    const Slot block = blocks.find_or_add(use.key, is_new);
    if (is_new) processes.push_back(0);
    pairs.find_or_add({block, use.process}, is_new);
    processes[block] += is_new ? 1 : 0;
  }
  bool is_new = false;
  for (Use& use : uses) use.processes = processes[blocks.find_or_add(use.key, is_new)];
}

}  // namespace

void add_foresight(std::span<Use> uses, Foresight foresight) {
  if (foresight == Foresight::kNext) set_next_uses(uses);
  if (foresight == Foresight::kProcesses) count_processes(uses);
}

}  // namespace plait::simulation
