/// The plan of one collective read or write: how an array in a store and a layout on ranks meet.
///
/// Pure: ranks are integers.  The file's order is a layout too, the *conforming layout*: the section's positions
/// distributed over the readers in equal consecutive shares, which part at storage units; where the array lies in
/// chunks, shares and windows are of whole ones, and shares of processes that write of whole shards, if there are any.  An access is the composition of that layout with the wanted one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "plait/layout.hpp"
#include "plan/access/costs.hpp"
#include "plan/access/readers.hpp"
#include "plan/access/section.hpp"
#include "plan/access/storage_unit.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

enum class Strategy : std::uint8_t {
  kAutomatic,  ///< whichever of the others the cost model predicts to be faster
  kDirect,     ///< each rank reads or writes its own runs
  kTwoPhase,   ///< readers take their shares of the section window by window, ranks take their parts from the windows
};

/// For encoders.
constexpr Strategy last_value(Strategy /*any*/) { return Strategy::kTwoPhase; }

const char* to_string(Strategy strategy);

/// What the caller decides; zeros leave it to the planner.
struct AccessOptions {
  Strategy strategy = Strategy::kAutomatic;
  std::int64_t memory_bytes = 0;  ///< most staging memory of a rank; 0: kDefaultMemory
  std::int64_t readers = 0;       ///< P': how many workers touch the store; 0: as many as help
  bool fill_halo = false;         ///< reading: the halos of local arrays as well
  /// Shares begin at multiples of this in the file, so that no two readers touch one page or disk block.
  std::int64_t storage_unit = kStorageUnit;
  std::shared_ptr<const CostModel> costs = nullptr;  ///< what the choice assumes of the machine; null: what is built in
  bool cold = false;  ///< what is read was not in the page cache when the file was opened
  /// Reading in two phases: each node reads all that its ranks want itself, so that nothing goes from node to node.
  bool each_node = false;
  bool as_measured = false;  ///< `strategy` is not what was asked for, but what has been the faster one, or is tried
  bool operator==(const AccessOptions&) const = default;
};

inline constexpr std::int64_t kDefaultMemory = std::int64_t{32} << 20;
/// Windows are this large where the budget allows it: the best of 128 KiB to 8 MiB in `plait bench io`, small enough to
/// stay in a core's cache between the store and the ranks.
inline constexpr std::int64_t kWindowBytes = std::int64_t{1} << 20;
/// Two windows a reader: one fills while the other one is distributed.
inline constexpr int kSlots = 2;
/// Messages between nodes that a rank has under way each way at most: while one is carried the next one is packed, or
/// unpacked.
inline constexpr int kInFlight = 2;
/// So many where a budget leaves buffers of a useful size, which are for `positions` times a window each; 1 otherwise.
constexpr int messages_in_flight(std::int64_t memory_bytes, std::int64_t positions = 1) {
  constexpr std::int64_t kUsefulBytes = std::int64_t{64} << 10;
  return memory_bytes / (kSlots + 2 * kInFlight * positions) >= kUsefulBytes ? kInFlight : 1;
}
/// Runs shorter than this that lie nearer to each other than this are read together with what lies between them:
/// reading so many bytes costs about as much as one more request.
inline constexpr std::int64_t kSieveGap = 4096;
/// Length in bytes at which runs cost as much as segments of a direct request as in a copy from a buffer.
inline constexpr std::int64_t kLongRun = 256;
/// The stretch that such a read covers at most.
inline constexpr std::int64_t kSieveBytes = std::int64_t{256} << 10;
/// What comes from a disk is read by windows from so many bytes on: a disk has to wait less for requests of whole windows
/// than for those of runs, and the model knows of no disk.
inline constexpr std::int64_t kLeastFromDisk = std::int64_t{16} << 20;
/// Which array is accessed, and by whom.
struct AccessTask {
  std::int64_t element_bytes = 1;
  std::int64_t data_offset = 0;  ///< where the file's array begins
  std::int64_t workers = 1;      ///< processes or threads that hold the layout's ranks
  bool nodes_apart = false;      ///< some workers do not share memory, so that messages need staging as well
  bool write = false;
  std::shared_ptr<const Nodes> nodes = nullptr;  ///< of the workers, where they are apart
  bool threads = false;                          ///< workers are threads of one process, which may share shards
  Extents strides{};                             ///< of the local arrays in bytes; empty: dense in the layout's order
};

/// What one rank has to do with a window.
struct RankPart {
  std::int64_t rank = 0;
  std::int64_t elements = 0;
  bool operator==(const RankPart&) const = default;
};

class AccessPlan {
 public:
  /// `layout` is of the section's layout_shape.
  /// errors  kArgument: the layout's shape is not the section's, the memory is too small for one element, or chunks are
  ///         to be accessed directly.
  AccessPlan(Section section, Layout layout, const AccessTask& task, const AccessOptions& options);

  const Section& section() const { return section_; }
  const Layout& layout() const { return layout_; }
  std::int64_t element_bytes() const { return element_bytes_; }
  Strategy strategy() const { return strategy_; }
  /// Whether the strategy was left to the cost model, and there is another one to take.
  bool is_open() const { return options_.strategy == Strategy::kAutomatic && !section_.chunks && !reads_once(); }
  std::int64_t workers() const { return workers_; }
  /// Strides of local arrays in bytes, for each layout dimension; empty if they are dense in the layout's order.
  const Extents& strides() const { return strides_; }
  /// Whether each node reads all that its ranks want itself.  Then readers() is the number of readers of each node, its
  /// first ranks, which have the shares of the section among them.
  bool each_node() const { return each_node_; }
  /// Whether each node might.
  bool may_read_in_each_node() const;
  std::int64_t readers() const { return readers_; }
  /// As many as help: more would have next to nothing to do.
  std::int64_t most_readers() const;
  /// The rank that is a reader, and the reader that a rank is: readers() where it is none.
  std::int64_t rank_of_reader(std::int64_t reader) const { return spread_.rank_of(reader); }
  std::int64_t reader_at(std::int64_t rank) const { return spread_.reader_at(rank); }
  /// Elements of a window.
  std::int64_t window() const { return window_; }
  /// Number of windows of the longest share.
  std::int64_t windows() const { return windows_; }
  /// Whether windows are of pieces of chunks, so that only the same reader for all of a share touches each chunk once.
  bool cuts_chunks() const { return section_.chunks && window_chunks_ == 0; }
  /// Whether nobody but the reader whose share a window is of may move it: of what it touches, others hold nothing.
  bool moves_alone() const { return cuts_chunks() || whole_shards_; }
  /// The most staging memory that a rank uses.
  std::int64_t staging_bytes() const;
  /// Messages between nodes that a rank has under way each way.
  int in_flight() const { return messages_in_flight(memory_bytes(), most_positions()); }
  /// Bytes of the buffer that readers of scattered short runs need, 0 where they need none.
  std::int64_t sieve_bytes() const;

  /// Size in bytes of the buffer for direct accesses to elements that are scattered in a rank's memory.
  std::int64_t direct_buffer_bytes() const { return std::max(std::min(kWindowBytes, memory_bytes()), element_bytes_); }

  /// A stretch of the section's positions.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t size() const { return end - begin; }
    bool empty() const { return begin >= end; }
  };
  Range share(std::int64_t reader) const;
  /// Window `number` of a share, from 0 on; empty after the last one.
  Range window(std::int64_t reader, std::int64_t number) const;
  std::int64_t reader_of(std::int64_t position) const {
    if (!section_.chunks) return (position + shift_) / share_;
    const std::int64_t number = section_.chunks->number_at(position);
    return (whole_shards_ ? section_.chunks->shard_of(number) : number) / share_units_;
  }

  /// What a rank takes part with: none if the layout does not have the rank, if it owns nothing, and in a write if another
  /// rank that holds the same copy writes it; more than one if a filled halo wraps around.  One entry for each section
  /// dimension.
  std::vector<Holding> holdings(std::int64_t rank) const;
  /// Strides of a local array, one for each section dimension, from those for each layout dimension.
  Extents local_strides(const Extents& layout_strides) const;
  /// How often an element can be in the local array of one rank.
  std::int64_t most_positions() const;
  /// The smallest position at or behind `position` that a rank with these index sets owns, or `section().elements`.
  std::int64_t next_owned(const std::vector<IndexSet>& sets, std::int64_t position) const;
  /// The elements of a range that a rank with these holdings takes part with.  cost  O(boxes of the range).
  std::int64_t elements(const std::vector<Holding>& own, Range range) const;
  /// The ranks that take part with an element of a range, ascending, and with how many.
  /// cost  O(ranks found, and coordinates in each dimension) for each box of the range.
  std::vector<RankPart> parts(Range range) const;
  /// The readers, by their ranks, whose window `number` has elements of a rank with these holdings, and how many.  Only
  /// readers that are `wanted`.  cost  O(readers found).
  std::vector<RankPart> readers_of(const std::vector<Holding>& own, std::int64_t number,
                                   base::FunctionRef<bool(std::int64_t)> wanted) const;

  /// Predicted seconds of a strategy, from the rank with the largest part.
  double predicted_seconds(Strategy strategy) const;
  /// Those of two-phase by another number of readers than this plan's.
  double predicted_seconds_by(std::int64_t readers) const;
  /// Those of two-phase where each node reads for itself.  pre  may_read_in_each_node()
  double predicted_seconds_in_each_node() const;
  /// Requests of the rank with the largest part under a strategy, and their typical size in bytes.
  std::int64_t requests(Strategy strategy) const;
  /// Runs between windows and the local array of the rank with the largest part, over its elements.
  double runs_per_element() const;
  const CostModel& costs() const { return model_; }

  /// What will happen, in lines for people.
  std::string explain(const std::string& store_name) const;

 private:
  /// Coordinates of a dimension, each with the elements that it has of something.
  using Shares = std::vector<std::pair<std::int64_t, std::int64_t>>;
  std::vector<Shares> coordinates_in(const Box& box) const;
  void choose_shares(std::int64_t data_offset, std::int64_t wanted_readers);
  void choose_window(std::int64_t memory_bytes);
  void choose_chunks_of_window(std::int64_t most);
  /// Of a reader's share.
  std::int64_t first_chunk(std::int64_t reader) const;
  Range of_chunks(std::int64_t first, std::int64_t end) const;
  std::int64_t memory_bytes() const { return options_.memory_bytes == 0 ? kDefaultMemory : options_.memory_bytes; }
  int message_buffers() const;
  int buffers() const;
  bool reads_once() const;
  bool reads_from_disk() const;
  bool writes_queue() const;
  std::int64_t best_writers() const;
  double two_phase_seconds(std::int64_t readers, std::int64_t share, std::int64_t windows) const;
  double direct_seconds() const;
  bool reads_short_runs() const;
  double exchange_seconds() const;
  std::int64_t readers_of_each_node() const;
  void read_in_each_node();
  std::int64_t largest_rank() const;

  Section section_;
  Layout layout_;
  std::int64_t element_bytes_;
  std::int64_t data_offset_;
  std::int64_t workers_;
  bool nodes_apart_;
  bool write_;
  bool threads_;
  Extents strides_;
  AccessOptions options_;
  CostModel model_;
  Strategy strategy_ = Strategy::kTwoPhase;
  std::int64_t unit_ = 1;  // elements that the shares are multiples of
  std::int64_t share_ = 1;
  std::int64_t shift_ = 0;
  std::int64_t readers_ = 1;
  Readers spread_;  // of so many readers over the workers
  std::shared_ptr<const Nodes> nodes_;
  double exchange_seconds_ = 0;  // predicted, of messages between nodes
  bool each_node_ = false;
  bool whole_shards_ = false;       // each is of one reader alone
  std::int64_t share_units_ = 0;    // chunks, or shards, where the array lies in chunks
  std::int64_t window_chunks_ = 0;  // 0 there: no window has room for one
  std::int64_t window_ = 1;
  std::int64_t windows_ = 0;
};

}  // namespace plait::plan
