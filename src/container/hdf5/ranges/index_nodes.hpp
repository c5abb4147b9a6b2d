/// Offsets of the parts of the chunk index of a dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "container/hdf5/ranges/block_cache.hpp"

namespace plait::container::hdf5 {

/// The values that locate the index of a dataset.
struct IndexLocation {
  std::int64_t header = 0;         ///< offset of the object header of the dataset
  std::int64_t dimensions = 0;     ///< dimensions of the dataset in the file
  std::int64_t tree_children = 0;  ///< maximum number of children of a node of a tree of version 1
};

/// Finds the nodes of a B-tree of chunks, of version 1 or 2, and the blocks of an extensible array. The other kinds of
/// index are contiguous and need no search.
class IndexNodes {
 public:
  /// file: must outlive the object.
  IndexNodes(store::Store& file, const IndexLocation& index) : file_(file), index_(index) {}

  /// For each level from the root on, calls `take` with the ranges of all its parts before it reads them. Ends at the
  /// first damaged node. Does not call `take` if it does not know the kind of index or the version of the file.
  /// errors  Those of the store.  kSystem, EIO: the header of the dataset is damaged.
  void visit(const std::function<void(std::span<const FileRange>)>& take);

 private:
  using Take = std::function<void(std::span<const FileRange>)>;
  /// A node of a tree of version 2.
  struct Node {
    std::int64_t offset = 0;
    std::int64_t records = 0;
  };
  struct Tree2;

  struct Array;

  void visit_tree1(std::int64_t root, const Take& take);
  void visit_tree2(std::int64_t header, const Take& take);
  bool add_children(const Node& node, const Tree2& tree, std::int64_t level, std::vector<Node>& children);
  void visit_array(std::int64_t header, const Take& take);
  std::vector<std::byte> read(std::int64_t offset, std::int64_t bytes);
  /// Returns true if the file is large enough for so many nodes. If it is not, damaged nodes share children, and the
  /// search might never end.
  bool fit(std::size_t count, std::int64_t node_bytes) const;

  store::Store& file_;
  const IndexLocation index_;
};

}  // namespace plait::container::hdf5
