/// The index of chunks that all versions of HDF5's library read: a B-tree of version 1, type 1 (HDF5 File Format
/// Specification 3.0, section III.A.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

struct ChunkTree {
  std::vector<std::byte> nodes;  ///< one behind the other
  std::int64_t root = 0;         ///< where that lies in the file
};

/// A tree for chunks of `dataset` by ascending number, to be written at offset `at`.  There is one at least.
/// cost    Some 50 bytes for each chunk of three dimensions.
ChunkTree make_tree(const Dataset& dataset, std::span<const Chunk> chunks, std::int64_t at);

/// Where in the head of a new file the address of the tree belongs: in the layout message of its only chunked dataset
/// (section IV.A.2.i, version 3).  errors  kSystem: the library has written another head.
std::int64_t tree_address_in(std::span<const std::byte> head, const Dataset& dataset, const std::string& path);
/// Where in it the length of the file stands (section II.A, version 0).  errors  The same.
std::int64_t length_in(std::span<const std::byte> head, const std::string& path);

/// Appends a number of so many bytes, the least first.
void append_number(std::vector<std::byte>& out, std::uint64_t value, int bytes);

}  // namespace plait::container::hdf5
