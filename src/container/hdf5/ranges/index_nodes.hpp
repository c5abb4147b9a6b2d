/// Finds the nodes and blocks of the chunk index of a dataset in the file.
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

  /// For each level of the index, from the root on, calls `report` with the ranges of all its nodes or blocks, and
  /// reads them after that to find the next level. Ends at the first damaged node. Does not call `report` if it does
  /// not know the kind of index or the version of the file.
  /// errors  Those of the store.  kSystem, EIO: the header of the dataset is damaged.
  void visit(const std::function<void(std::span<const FileRange>)>& report);

 private:
  using Report = std::function<void(std::span<const FileRange>)>;
  /// A node of a tree of version 2.
  struct Node {
    std::int64_t offset = 0;
    std::int64_t records = 0;  ///< number of its records, which its parent states
  };
  struct BtreeV2;
  struct ExtensibleArray;

  void visit_btree_v1(std::int64_t root, const Report& report);
  void visit_btree_v2(std::int64_t header, const Report& report);
  /// Appends the children of a node, which is on that level. Returns false if the node is damaged.
  bool add_children(const Node& node, const BtreeV2& tree, std::int64_t level, std::vector<Node>& children);
  void visit_extensible_array(std::int64_t header, const Report& report);
  /// Reads a range; returns no bytes if it is not inside the file.
  std::vector<std::byte> read(std::int64_t offset, std::int64_t bytes);
  /// Returns true if the file is large enough for so many nodes. If it is not, damaged nodes share children, and the
  /// search might never end.
  bool fits_in_file(std::size_t count, std::int64_t node_bytes) const;

  store::Store& file_;
  const IndexLocation index_;
};

}  // namespace plait::container::hdf5
