/// Which ranks are the readers of an access: those that touch the store.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/index_set.hpp"

namespace plait::plan {

/// The ranks of each node, in order of their first ones.
using Nodes = std::vector<IndexSet>;

/// Spreads readers over nodes: as evenly as the nodes' sizes allow, so that each node's network and processors have
/// their part, and inside a node evenly over its ranks.  Readers count up from node to node, so that neighbouring shares
/// of the file, which as a rule belong to the same node in a layout of blocks, are read there.
///
/// Where all ranks share one node the readers are the first ranks; where every rank reads, each is the reader of its
/// own number.
/// cost  memory O(nodes).  Making it: O(nodes * log(readers)).  Looking a rank up: O(log nodes), or O(nodes) where the
///       nodes are not stretches of ranks.
class Readers {
 public:
  Readers() = default;
  /// `count` of `workers` ranks.  `nodes` hold each rank once; none: all ranks share one.
  /// pre     0 <= count <= workers
  Readers(std::int64_t count, std::int64_t workers, std::shared_ptr<const Nodes> nodes = nullptr);

  std::int64_t count() const { return count_; }
  /// The rank of a reader.  pre  0 <= reader < count()
  std::int64_t rank_of(std::int64_t reader) const;
  /// The number of a rank among the readers, count() where it is none.
  std::int64_t reader_at(std::int64_t rank) const;
  /// How many nodes have readers.
  std::int64_t nodes() const;
  /// The node of a rank.  pre  Nodes were given.
  std::size_t node_of(std::int64_t rank) const;

 private:
  std::int64_t on_node(std::size_t node) const { return first_[node + 1] - first_[node]; }

  std::int64_t count_ = 1;
  std::shared_ptr<const Nodes> nodes_;
  std::vector<std::int64_t> first_;  // of each node's readers, and their number; empty: rank r is reader r
};

}  // namespace plait::plan
