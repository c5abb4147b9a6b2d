/// Redistributes arrays in memory from one layout to another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/agree.hpp"
#include "copy/local_array.hpp"
#include "exchange/gather.hpp"
#include "exchange/pairwise.hpp"
#include "exchange/phases.hpp"
#include "exchange/pull.hpp"
#include "plan/section/section_products.hpp"
#include "transport/transport.hpp"

namespace plait::exchange {

/// Which arrays of other workers a worker of a node can access directly.  All workers of the node use the same value,
/// which they compute in each run.
enum class Reach : std::uint8_t {
  kBoth,     ///< all sources and targets: the node's work is divided, and each byte is copied once
  kSources,  ///< all sources: each worker fills its own target from them, in one copy
  kTargets,  ///< all targets: each worker copies its elements directly there, in one copy
  kSystem,   ///< none, but system calls read all sources: one copy for long runs, two for short ones, no waits
  kNeither   ///< windows: one copy in and one copy out
};

/// One worker's part of a redistribution over a transport whose workers hold one rank each, planned once for any number
/// of runs.
///
/// Inside a node, arrays in shared memory are read or written directly, and the workers only wait for each other in the
/// agreements.  If system calls can copy between processes, each worker reads the elements of its target (Pull).
/// Otherwise workers exchange messages through windows (Phases, or Pairwise if there is little memory).  Between nodes
/// pairs exchange messages (Pairwise).
class Exchange {
 public:
  /// Plans the redistribution and allocates the memory of all runs.  Not collective.
  /// errors  kArgument: the memory is too small.
  Exchange(plan::Pairs pairs, std::int64_t element_bytes, std::int64_t memory_bytes, transport::Transport& transport);

  const plan::Pairs& pairs() const { return pairs_; }

  /// Publishes the addresses of this worker's arrays on its node; nullptr for an array that it does not have.  A run
  /// consists of collective::prepare(), announce(), an agreement, run() and another agreement, in this order. Until the
  /// last one, no worker uses the arrays for anything else.
  void announce(const copy::LocalArray* source, const copy::LocalArray* target);
  /// Moves the elements.
  /// errors  The first error of this worker, thrown only when no other worker waits for this one any more.
  void run();

  /// Returns the reach of the last run.
  std::optional<Reach> reach() const { return reach_; }
  /// Describes the redistribution as text for people, one fact per line.
  std::string explain() const;

 private:
  /// Targets that are filled together, and this worker's part of the work.
  struct Group {
    std::vector<std::int64_t> ranks;
    std::vector<Gather> gathers;
    std::int64_t part = 0;
  };

  /// The arrays of the node's workers, at the addresses that this worker uses.
  struct Views {
    // One entry for each worker of the node, by node rank. Its data is nullptr if the worker has no array, or if this
    // worker cannot reach it.
    std::vector<copy::LocalArray> sources;
    std::vector<copy::LocalArray> targets;
  };

  Reach common_reach() const;
  bool may_pull(const copy::LocalArray* source, const copy::LocalArray* target);
  /// Tests once whether system calls can read the memory of the node's other workers.
  void try_peers();
  void collect_views(Views& views) const;
  /// Fills this worker's part of the targets of a group.
  void fill(Group& group, const Views& views, std::span<const copy::LocalArray> sources);
  /// Returns the targets of this worker and its neighbours, filled from all sources of the node (Reach::kBoth).
  Group& whole_group();
  /// Returns this worker's target, filled from all sources of the node (Reach::kSources).
  Group& own_target();
  /// Returns the targets of the node that take elements from this worker's source (Reach::kTargets).
  Group& scattered();
  /// Returns this worker's target, filled from this worker's own source only.
  Group& own_message();
  Pull& pull();
  copy::LocalArray dense(const Layout& layout, std::int64_t rank) const;
  Gather gather_for(std::int64_t target, const std::vector<std::int64_t>& senders, bool by_node_rank) const;
  std::vector<std::int64_t> neighbours() const;
  std::vector<std::int64_t> node_senders(std::int64_t target) const;
  bool is_on_node(std::int64_t rank) const;
  std::int64_t staging_bytes() const;

  plan::Pairs pairs_;
  std::int64_t element_bytes_;
  transport::Transport& transport_;
  Pairwise pairwise_;
  std::optional<Phases> phases_;  // null if there is too little memory for them
  std::int64_t window_bytes_;     // maximum that any node needs, equal on all nodes
  std::int64_t memory_bytes_;
  // Created when first needed.
  std::optional<Group> whole_group_;
  std::optional<Group> own_target_;
  std::optional<Group> scattered_;
  std::optional<Group> own_message_;
  std::optional<Pull> pull_;
  std::optional<Stage> stage_;
  // The arrays of the next run and the reach of the last one.
  const copy::LocalArray* source_ = nullptr;
  const copy::LocalArray* target_ = nullptr;
  std::optional<Reach> reach_;
};

/// Fills all targets of a process that holds all ranks, by `threads` threads.  The arrays are in ascending order of the
/// layouts' ranks.
void gather_all(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                std::int64_t element_bytes, int threads);

}  // namespace plait::exchange
