/// The plan of one collective read or write: which rank reads or writes which part of a store, and when.
///
/// Planning needs no MPI and no I/O: ranks are integers.  The elements that are accessed form a *section*, in which
/// they are numbered in file order.  The file's order is a layout too, the *conforming layout*: the section's elements
/// are distributed over the ranks that access the store (*readers*) in equal consecutive *shares*, which begin at
/// storage units.  A reader transfers its share in *windows*, pieces that fit into its memory.  If the array is
/// stored in chunks, shares and windows consist of whole chunks, and shares of writing processes consist of whole
/// shards if there are any.  An access is the composition of that layout with the caller's.
///
/// The class AccessPlan describes which elements go where. plan/access/planner.hpp chooses among plans,
/// plan/access/prediction.hpp predicts their times, and plan/access/explain_access.hpp describes them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.hpp"
#include "plan/access/access_options.hpp"
#include "plan/access/readers.hpp"
#include "plan/access/shares.hpp"
#include "plan/access/staging.hpp"
#include "plan/section/section_owners.hpp"

namespace plait::plan {

/// A sample of the elements in windows: how many there are, and how many of them belong to ranks of another node than
/// the window's reader.
struct WindowSample {
  std::int64_t elements = 0;
  std::int64_t on_other_nodes = 0;
};

/// The section with the ranks that own its elements, the shares and windows of the readers, and the strategy.  A value.
class AccessPlan {
 public:
  /// Makes a two-phase plan with the number of readers that `options` requests, or with max_readers() if it requests
  /// none. plan_access() chooses a strategy and a better number of readers; accesses use its plans.
  /// errors  kArgument: the layout's shape is not the section's, the memory is too small for one element, or there are
  ///         fewer workers than readers.
  AccessPlan(Section section, Layout layout, const AccessTask& task, const AccessOptions& options);

  const AccessTask& task() const { return task_; }
  const AccessOptions& options() const { return options_; }
  /// Returns the machine constants of the options, or the built-in ones.
  const CostModel& costs() const;
  const SectionOwners& owners() const { return owners_; }
  const Section& section() const { return owners_.section(); }
  const Layout& layout() const { return owners_.layout(); }
  const Shares& shares() const { return shares_; }
  const Staging& staging() const { return staging_; }
  /// Returns how far apart, in a window, elements are that are neighbours in a rank's array.
  const ArrayNeighbours& neighbours() const { return neighbours_; }
  Strategy strategy() const { return strategy_; }
  std::int64_t element_bytes() const { return task_.element_bytes; }

  /// True if each node reads everything that its ranks need.  Then readers() is the number of readers of each node.
  /// They are its first ranks and divide the whole section among them.
  bool each_node() const { return each_node_; }
  std::int64_t readers() const { return shares_.readers(); }
  /// Returns the mapping between ranks and readers.  Unused if each_node().
  const Readers& reader_ranks() const { return reader_ranks_; }
  /// Returns the maximum useful number of readers.  With more of them, shares would be smaller than 64 KiB.
  std::int64_t max_readers() const;
  /// Returns the number of readers of each node if each one reads for its ranks: the number of ranks of the smallest
  /// node, so that all nodes have the same shares and windows.  pre  The task has nodes.
  std::int64_t readers_in_each_node() const;

  std::int64_t window_elements() const { return shares_.window_elements(); }
  /// Returns the number of windows of the longest share.
  std::int64_t windows() const { return shares_.windows(); }
  PositionRange share(std::int64_t reader) const { return shares_.share(section(), reader); }
  /// Returns a window of a share, numbered from 0; empty after the last one.
  PositionRange window(std::int64_t reader, std::int64_t number) const {
    return shares_.window(section(), reader, number);
  }
  std::int64_t reader_at(std::int64_t position) const { return shares_.reader_at(section(), position); }
  /// Returns the ranks of the readers whose window `number` has elements of the rank that owns `holdings`, with the
  /// numbers of these elements.  Skips readers whose rank is not `wanted`.  cost  O(readers found).
  std::vector<RankPart> find_readers(const std::vector<RankElements>& holdings, std::int64_t number,
                                     base::FunctionRef<bool(std::int64_t)> wanted) const;
  /// Returns a sample from the first windows of a few readers, empty if all ranks share one node.
  const WindowSample& sample() const { return sample_; }

  /// Returns the maximum number of bytes of staging memory that a rank uses.
  std::int64_t staging_bytes() const;
  std::int64_t sieve_bytes() const { return staging_.sieve_bytes(window_elements()); }

  /// Divides the section again, among the given number of readers.
  void divide(std::int64_t readers);
  /// Lets each node read everything that its ranks need.  pre  The task reads, and has nodes.
  void read_in_each_node();
  /// pre  A strategy that is not automatic.
  void set_strategy(Strategy strategy) { strategy_ = strategy; }

 private:
  /// Returns the shares and windows of this number of readers.
  Shares divided(std::int64_t readers) const;

  SectionOwners owners_;
  AccessTask task_;
  AccessOptions options_;
  Staging staging_;
  ArrayNeighbours neighbours_;
  Shares shares_;
  Readers reader_ranks_;
  WindowSample sample_;
  Strategy strategy_ = Strategy::kTwoPhase;
  bool each_node_ = false;
};

}  // namespace plait::plan
