/// Moves arrays in memory from one layout into another.
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

/// How the workers of a node reach each other's arrays, as they find out together at each run.
enum class Reach : std::uint8_t {
  kBoth,     ///< all sources and targets: the node's work is shared out, and each byte is copied once
  kSources,  ///< all sources: each worker puts its own target collective::together out of them, in one copy
  kTargets,  ///< all targets: each worker puts what it has straight there, in one copy
  kSystem,  ///< none, but the system copies out of all sources: one copy for long runs, two without waits for short ones
  kNeither  ///< windows: one copy into them and one out of them
};

/// One worker's part of a redistribution over a transport whose workers hold one rank each, planned once for any number
/// of runs.
///
/// Inside a node arrays that lie in shared memory are read or written straight, and the workers meet at the agreements
/// alone; where the system copies between processes, each worker has it read what its target takes (Pull).  Otherwise they
/// exchange messages through windows (Phases, or Pairwise where memory is short).  Between nodes pairs exchange messages
/// (Pairwise).
class Exchange {
 public:
  /// Plans, and allocates what runs need.  Not collective.
  /// errors  kArgument: the memory is too small.
  Exchange(plan::Pairs pairs, std::int64_t element_bytes, std::int64_t memory_bytes, transport::Transport& transport);

  const plan::Pairs& pairs() const { return pairs_; }

  /// Tells the node where this worker's arrays lie; nullptr for one that it has not.  prepare(), this and an agreement,
  /// in this order, come before run(); another agreement follows it, and until then nobody touches the arrays.
  void announce(const copy::LocalArray* source, const copy::LocalArray* target);
  /// errors  The first error of this worker, once the others need not wait for it.
  void run();

  /// What was found at the last run.
  std::optional<Reach> reach() const { return reach_; }
  /// Lines for people.
  std::string explain() const;

 private:
  /// Targets that are filled side by side, and this worker's share of the work.
  struct Group {
    std::vector<std::int64_t> ranks;
    std::vector<Gather> gathers;
    std::int64_t part = 0;
  };

  struct Views {
    std::vector<copy::LocalArray>
        sources;  // of each worker of the node, by its position; of those that have none, empty ones
    std::vector<copy::LocalArray> targets;
  };

  Reach common_reach() const;
  bool may_pull(const copy::LocalArray* source, const copy::LocalArray* target);
  void try_peers();
  void look_around(Views& views) const;
  void fill(Group& group, const Views& views, std::span<const copy::LocalArray> sources);
  Group& whole_group();
  Group& own_target();
  Group& scattered();
  Group& own_message();
  Pull& pull();
  copy::LocalArray dense(const Layout& layout, std::int64_t rank) const;
  Gather gather_for(std::int64_t target, const std::vector<std::int64_t>& senders, bool by_position) const;
  std::vector<std::int64_t> neighbours() const;
  std::vector<std::int64_t> node_senders(std::int64_t target) const;
  bool on_node(std::int64_t rank) const;
  std::int64_t staging_bytes() const;

  plan::Pairs pairs_;
  std::int64_t element_bytes_;
  transport::Transport& transport_;
  Pairwise pairwise_;
  std::optional<Phases> phases_;  // where there is memory for them
  std::int64_t window_bytes_;     // as much as any node may need, the same on all
  std::int64_t memory_bytes_;
  // Made when first needed:
  std::optional<Group> whole_group_;
  std::optional<Group> own_target_;
  std::optional<Group> scattered_;
  std::optional<Group> own_message_;
  std::optional<Pull> pull_;
  std::optional<Stage> stage_;
  // Of the next run:
  const copy::LocalArray* source_ = nullptr;
  const copy::LocalArray* target_ = nullptr;
  std::optional<Reach> reach_;
};

/// All targets of a process that holds all ranks: `threads` of them share the work.  The arrays are those of the
/// layouts' ranks, ascending.
void gather_all(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                std::int64_t element_bytes, int threads);

}  // namespace plait::exchange
