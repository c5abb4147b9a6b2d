/// Exchanges messages between all pairs of workers of a node at once, through windows: buffers in shared memory.
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

/// The messages of one worker, exchanged in phases. In each phase it packs one chunk for each worker that it sends to,
/// next to each other in one window, and then unpacks its chunks of the previous phase from the others' windows.  A
/// worker has two windows, so that it waits only for workers that are more than one phase behind: with more workers
/// than cores, each wait costs a context switch.
class Phases {
 public:
  /// Minimum size of a chunk.  With less memory Pairwise is faster.
  static constexpr std::int64_t kMinChunkBytes = 4096;

  /// Returns the bytes of a chunk, equal on all workers of a node.
  static std::int64_t chunk_bytes(std::int64_t element_bytes, std::int64_t memory_bytes, int node_size);

  /// Returns the maximum number of window bytes that are used, for any number of workers on a node.
  static std::int64_t max_window_bytes(std::int64_t memory_bytes);

  /// Plans the messages of this worker.  Not collective.
  Phases(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
         transport::Transport& transport);

  std::int64_t staging_bytes() const { return plan::kSlots * slot_bytes_; }
  std::int64_t chunk_bytes() const { return chunk_ * element_bytes_; }

  /// Moves the messages.  Collective over the transport.  Every worker calls collective::prepare() before the last
  /// agreement that precedes this call, and another agreement must follow.
  /// errors  The first error of this worker, thrown after its part is complete, so that the others do not wait forever.
  void run(const copy::LocalArray* from, const copy::LocalArray* to);

 private:
  struct Partner {
    int node_rank = 0;  // rank on the node
    int distance = 0;   // distance in the ring, which orders the partners
    PackedMessage message;
    std::int64_t phases = 0;
  };
  /// Returns the workers of the node to which this worker sends, or from which it receives, with their messages.
  std::vector<Partner> plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks, bool sending) const;
  /// Packs the chunks of a phase into a window of this worker.
  void put(std::int64_t phase, const copy::LocalArray& from);
  /// Unpacks the chunks of a phase from the windows of their senders.
  void take(std::int64_t phase, const copy::LocalArray& to);
  /// Return the elements [begin, end) of a message that a phase moves.
  std::int64_t phase_begin(std::int64_t phase) const { return phase * chunk_; }
  std::int64_t phase_end(const Partner& partner, std::int64_t phase) const;
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
  // The state of one run.
  transport::SharedWindows* windows_ = nullptr;
  std::array<std::uint32_t, plan::kSlots> expected_{};  // for each slot, the chunks packed into it so far
  collective::FirstError error_;  // such as a lack of memory; this worker still exchanges all its messages
};

}  // namespace plait::exchange
