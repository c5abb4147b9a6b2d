/// Chooses the readers of an access: the ranks that access the store for all others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/index_set.hpp"

namespace plait::plan {

/// The ranks of each node.  Nodes are in order of their first ranks.
using Nodes = std::vector<IndexSet>;

/// Distributes readers over nodes as evenly as the nodes' sizes allow, so that every node's network and processors take
/// part, and within a node evenly over its ranks.  Readers are numbered from node to node, so that neighbouring shares
/// of the file, which usually belong to one node in a layout of blocks, are read on the same node.
///
/// If all ranks share one node, the readers are the first ranks.  If every rank reads, reader r is rank r.
/// cost    memory O(nodes).  Construction: O(nodes * log(readers)).  Lookup of a rank: O(log nodes), or O(nodes) if the
///         ranks of a node are not consecutive.
class Readers {
 public:
  Readers() = default;
  /// Chooses `count` of `workers` ranks.  `nodes` contain each rank once; null: all ranks share one node.
  /// pre     0 <= count <= workers
  Readers(std::int64_t count, std::int64_t workers, std::shared_ptr<const Nodes> nodes = nullptr);

  std::int64_t count() const { return count_; }
  /// Returns the rank of a reader.  pre  0 <= reader < count()
  std::int64_t rank_at(std::int64_t reader) const;
  /// Returns the reader number of a rank, or count() if the rank is not a reader.
  std::int64_t reader_at(std::int64_t rank) const;
  /// Returns the number of nodes that have readers.
  std::int64_t nodes() const;
  /// Returns the node of a rank.  pre  The constructor received nodes.
  std::size_t find_node(std::int64_t rank) const;

 private:
  std::int64_t reader_count(std::size_t node) const { return first_[node + 1] - first_[node]; }

  std::int64_t count_ = 1;
  std::shared_ptr<const Nodes> nodes_;
  std::vector<std::int64_t> first_;  // first reader of each node, and count_ at the end; empty: rank r is reader r
};

}  // namespace plait::plan
