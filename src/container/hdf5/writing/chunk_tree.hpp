/// The index of chunks that all versions of the HDF5 library read: a B-tree of version 1, type 1 (HDF5 File Format
/// Specification 3.0, section III.A.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

/// A complete tree, which the caller must write to the file.
struct ChunkTree {
  std::vector<std::byte> nodes;  ///< the nodes, one after the other
  std::int64_t root = 0;         ///< offset of the root node in the file
};

/// Makes the tree of the chunks of `dataset`. There must be at least one chunk, and they must be sorted by number. The
/// caller writes the tree at offset `at`. Each node has capacity for the dataset's tree_children.
/// cost  About 50 bytes for each chunk of three dimensions.
ChunkTree make_tree(const HdfDataset& dataset, std::span<const Chunk> chunks, std::int64_t at);

}  // namespace plait::container::hdf5
