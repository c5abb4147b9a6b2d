/// Messages between the workers of a node, all pairs at once, through windows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collective/first_error.hpp"
#include "copy/local_array.hpp"
#include "exchange/message.hpp"
#include "plan/access/staging.hpp"
#include "plan/section/section_products.hpp"
#include "transport/gates.hpp"
#include "transport/transport.hpp"

namespace plait::exchange {

/// In each phase a worker packs a chunk for every worker that it has something for, side by side in one window; then it
/// takes its chunks of the phase before out of the others' windows.  A worker has two windows, so that nobody waits for
/// one that is only a little behind: with more workers than cores each wait costs a change of process.
class Phases {
 public:
  /// Chunks below this are not worth it: Pairwise does with less memory.
  static constexpr std::int64_t kLeastChunkBytes = 4096;

  /// Bytes of a chunk: equal on all workers of a node.
  static std::int64_t chunk_bytes(std::int64_t element_bytes, std::int64_t memory_bytes, int node_size);

  /// At most so much of a window is used, whatever the size of the node.
  static std::int64_t most_window_bytes(std::int64_t memory_bytes);

  /// Plans the messages of this worker.  Not collective.
  Phases(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
         transport::Transport& transport);

  std::int64_t staging_bytes() const { return plan::kSlots * slot_bytes_; }
  std::int64_t chunk_bytes() const { return chunk_ * element_bytes_; }

  /// Moves the messages.  Collective over the transport; prepare() is called before the last agreement ahead of it.
  /// errors  The first error of this worker, once it has done its part, so that the others do not hang.
  void run(const copy::LocalArray* from, const copy::LocalArray* to);

 private:
  struct Partner {
    int node_rank = 0;  // on the node
    int distance = 0;   // in the order in which they are served
    PackedMessage message;
    std::int64_t phases = 0;
  };
  std::vector<Partner> plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks, bool sending) const;
  void put(std::int64_t phase, const copy::LocalArray& from);
  void take(std::int64_t phase, const copy::LocalArray& to);
  std::int64_t begin_of(std::int64_t phase) const { return phase * chunk_; }
  std::int64_t end_of(const Partner& partner, std::int64_t phase) const;
  transport::Slot& slot(int node_rank, std::int64_t phase) const {
    return transport_.gates().slot(node_rank, static_cast<int>(phase % plan::kSlots));
  }
  std::byte* chunk(transport::SharedWindows& windows, int owner, int receiver, std::int64_t phase) const {
    return windows.part(owner) + phase % plan::kSlots * slot_bytes_ + receiver * chunk_bytes();
  }

  std::int64_t element_bytes_;
  transport::Transport& transport_;
  std::int64_t chunk_;  // elements
  std::int64_t slot_bytes_;
  std::vector<Partner> to_;
  std::vector<Partner> from_;
  // Of one run:
  transport::SharedWindows* windows_ = nullptr;
  std::array<std::uint32_t, plan::kSlots> expected_{};  // how often a slot's chunks will have been taken
  collective::FirstError error_;  // for want of memory: the others wait for this worker's part all the same
};

}  // namespace plait::exchange
