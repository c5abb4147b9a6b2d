/// Exchanges messages between pairs of workers, in rounds: inside a node through windows (buffers in shared memory),
/// between nodes by messages of the transport.
#pragma once

#include <array>
#include <vector>

#include "collective/first_error.hpp"
#include "collective/messages_in_flight.hpp"
#include "collective/reserve.hpp"
#include "copy/local_array.hpp"
#include "exchange/message.hpp"
#include "plan/access/staging.hpp"
#include "plan/section/section_products.hpp"
#include "transport/gates.hpp"
#include "transport/transport.hpp"

namespace plait::exchange {

/// The messages of one worker, exchanged in rounds. In round d each worker sends to the worker d positions after it and
/// receives from the one d positions before it (the pairwise exchange of Bordawekar 1993, figure 16), first within the
/// node. Pairs without common elements are skipped.  Messages are cut into chunks.  Inside a node one chunk in each
/// direction is under way at a time.  Between nodes there are up to plan::kInFlight, and neither direction waits for
/// the other, so that links carry both at once.
class Pairwise {
 public:
  /// Plans the messages of this worker and allocates buffers.  Not collective, but all workers compute the same chunk
  /// size.
  /// errors  kArgument: the memory is too small, for two elements or for messages of half a million chunks.
  Pairwise(const plan::Pairs& pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
           transport::Transport& transport);

  /// Returns the number of messages from this worker to others.
  std::int64_t messages() const { return static_cast<std::int64_t>(to_.size()); }
  /// Returns the maximum number of staging bytes in use at a time.
  std::int64_t staging_bytes() const;
  std::int64_t chunk_bytes() const { return chunk_ * element_bytes_; }
  /// Returns the bytes of the buffers for messages between nodes.
  std::int64_t message_bytes() const { return static_cast<std::int64_t>(outgoing_.size() + incoming_.size()); }

  /// Moves the messages: all of them, or only those that leave the node if `inside` is false.  An array that this
  /// worker does not have is nullptr.  Collective.  Every worker calls collective::prepare() before the last agreement
  /// that precedes this call, and another agreement must follow.
  /// errors  The first error of this worker, thrown after its part is complete, so that the others do not wait forever.
  void run(const copy::LocalArray* from, const copy::LocalArray* to, bool inside);

 private:
  struct Partner {
    bool remote = false;        // on another node
    std::int64_t distance = 0;  // round in which the pair exchanges its message
    int worker = 0;
    PackedMessage message;
    auto key() const { return std::pair(remote, distance); }
  };

  /// Returns the workers to which this worker sends, or from which it receives, in the order of rounds.
  std::vector<Partner> plan(const plan::Pairs& pairs, const std::vector<std::int64_t>& ranks, bool sending) const;
  /// Exchanges the messages of one round inside a node; nullptr: this worker has none in that direction.
  void round(const Partner* to, const Partner* from);
  /// Packs a chunk into a window of this worker.
  void put(const Partner& to, std::int64_t chunk);
  /// Unpacks a chunk from a window of its sender.
  void take(const Partner& from, std::int64_t chunk);
  void run_inside();
  void run_between_nodes();
  /// Waits until receivers have unpacked all chunks of this worker's windows.
  void wait_until_taken();

  transport::Slot& slot(int node_rank, std::int64_t chunk) const {
    return transport_.gates().slot(node_rank, static_cast<int>(chunk % plan::kSlots));
  }
  std::byte* window(int node_rank, std::int64_t chunk) const {
    return windows_->part(node_rank) + chunk % plan::kSlots * chunk_ * element_bytes_;
  }
  std::int64_t chunk_end(const PackedMessage& message, std::int64_t chunk) const {
    return std::min((chunk + 1) * chunk_, message.elements());
  }
  /// A chunk of a message, either under way or the next to start.
  struct Chunk {
    const Partner* partner = nullptr;
    std::int64_t number = 0;
  };
  using Messages = collective::MessagesInFlight<Chunk, plan::kInFlight>;
  Chunk first_between_nodes(const std::vector<Partner>& partners) const;
  /// Returns the next chunk.  Its partner is nullptr after the last one.
  Chunk next(const std::vector<Partner>& partners, Chunk chunk) const;
  std::size_t bytes_in(const Chunk& chunk) const;
  /// Unpack the messages that have arrived; start to receive or to send the next chunk.  Return false if there is none
  /// or no buffer is free.
  bool unpack_arrived();
  bool receive(Chunk& next_chunk);
  bool send(Chunk& next_chunk);

  std::int64_t element_bytes_;
  transport::Transport& transport_;
  std::int64_t chunk_;  // elements of a chunk, which is as large as a window
  std::vector<Partner> to_;
  std::vector<Partner> from_;
  Messages outgoing_;
  Messages incoming_;
  // The arguments and state of one run.
  const copy::LocalArray* source_ = nullptr;
  const copy::LocalArray* target_ = nullptr;
  transport::SharedWindows* windows_ = nullptr;
  std::array<std::uint32_t, plan::kSlots> last_put_{};  // for each slot, the stamp of the chunk last packed into it
  collective::FirstError error_;  // such as a lack of memory; this worker still exchanges all its messages
  collective::Reserve reserve_;
};

}  // namespace plait::exchange
