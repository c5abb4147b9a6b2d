/// The index of chunks that all versions of HDF5's library read: a B-tree of version 1, type 1 (HDF5 File Format
/// Specification 3.0, section III.A.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

struct ChunkTree {
  std::vector<std::byte> nodes;  ///< one behind the other
  std::int64_t root = 0;         ///< where that lies in the file
};

/// A tree for chunks of `dataset` by ascending number, to be written at offset `at`, whose nodes have capacity for the
/// dataset's tree_children.  There is one chunk at least.
/// cost    Some 50 bytes for each chunk of three dimensions.
ChunkTree make_tree(const HdfDataset& dataset, std::span<const Chunk> chunks, std::int64_t at);

/// Appends a number of so many bytes, the least first.
void append_number(std::vector<std::byte>& out, std::uint64_t value, int bytes);

}  // namespace plait::container::hdf5
