// A B-tree of version 1, built bottom-up from the sorted list of all chunks.
//
// Problem: HDF5 readers find a chunk through this tree. The library would build it by inserting chunks one by one, and
// would allocate its nodes itself.
//
// Idea: all chunks are known, so that full nodes are written level by level, from the leaves to the root.
//
// A node has n children and n + 1 keys: key i is the first chunk below child i, and the last key is the upper bound. A
// key has the chunk's size, its filter mask and the coordinates of its first element. All nodes have the same size, so
// that their offsets are known before they are written. Nodes of one level are linked to their neighbours.
//
// Example: 130 chunks of a grid of 10x13 with chunks (100, 100), and 64 children a node. A key has 8 + 8 * 3 = 32
// bytes, a node 24 + 64 * 8 + 65 * 32 = 2,616 bytes. The tree is written at offset `at`:
//    level 0   at             chunks 0..63     its last key is that of chunk 64
//              at + 2,616     chunks 64..127   its last key is that of chunk 128
//              at + 5,232     chunks 128, 129  its last key is (1000, 1300), one chunk after (9, 12) in each dimension
//    level 1   at + 7,848     the root: children at, at + 2,616 and at + 5,232, with the keys of chunks 0, 64 and 128

#include "container/hdf5/writing/chunk_tree.hpp"

#include <algorithm>
#include <string_view>

#include "container/hdf5/changing/numbers.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};  // stands for a neighbour that does not exist

/// A child of a node, and the key before it.
struct Child {
  std::int64_t number = 0;
  std::uint32_t bytes = 0;
  std::uint32_t filter_mask = 0;
  std::int64_t offset = 0;
};

/// Appends nodes of a tree to a buffer.
class TreeWriter {
 public:
  explicit TreeWriter(const HdfDataset& dataset)
      : dataset_(dataset), grid_(dataset.grid()), max_children_(static_cast<std::size_t>(dataset.tree_children)) {}

  /// Returns the bytes of a key: the size, the filter mask, the coordinates of the first element, and a zero for the
  /// dimension of bytes within elements.
  std::size_t key_bytes() const { return 8 + 8 * (dataset_.stored_dimensions() + 1); }
  std::size_t node_bytes() const { return 24 + max_children_ * 8 + (max_children_ + 1) * key_bytes(); }

  /// The neighbours of a node, and the key after its last child.
  struct Siblings {
    std::uint64_t left = kUndefinedAddress;
    std::uint64_t right = kUndefinedAddress;
    Child next{};
    bool is_end = false;  ///< true if the node is the last of its level, so that `next` is the last chunk of all
  };
  void append_node(std::span<const Child> children, int level, const Siblings& siblings) {
    const std::size_t end = out_.size() + node_bytes();
    for (const char letter : std::string_view("TREE")) out_.push_back(static_cast<std::byte>(letter));
    append_number(out_, 1, 1);  // node type 1: chunks
    append_number(out_, static_cast<std::uint64_t>(level), 1);
    append_number(out_, children.size(), 2);
    append_number(out_, siblings.left, 8);
    append_number(out_, siblings.right, 8);
    for (const Child& child : children) {
      append_key(child, /*shift=*/0);
      append_number(out_, static_cast<std::uint64_t>(child.offset), 8);
    }
    // The last key of a level is one chunk further in each dimension than the last chunk.
    append_key(siblings.next, /*shift=*/siblings.is_end ? 1 : 0);
    out_.resize(end);
  }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  /// Appends the key of a chunk. shift: a number of chunks that is added to its index in each dimension.
  void append_key(const Child& child, std::int64_t shift) {
    append_number(out_, child.bytes, 4);
    append_number(out_, child.filter_mask, 4);
    Extents index(grid_.size());
    std::int64_t number = child.number;
    for (std::size_t d = grid_.size(); d-- > 0; number /= grid_[d]) index[d] = number % grid_[d] + shift;
    for (std::size_t d = 0; d < dataset_.stored_dimensions(); ++d)
      append_number(out_, static_cast<std::uint64_t>(index[d] * dataset_.chunk[d]), 8);
    append_number(out_, 0, 8);  // the dimension of bytes within elements
  }

  const HdfDataset& dataset_;
  const Extents grid_;
  const std::size_t max_children_;
  std::vector<std::byte> out_;
};

}  // namespace

ChunkTree make_tree(const HdfDataset& dataset, std::span<const Chunk> chunks, std::int64_t at) {
  TreeWriter writer(dataset);
  const auto node_bytes = static_cast<std::int64_t>(writer.node_bytes());
  const auto max_children = static_cast<std::size_t>(dataset.tree_children);
  std::vector<Child> children;
  children.reserve(chunks.size());
  for (const Chunk& chunk : chunks)
    children.push_back({chunk.number, static_cast<std::uint32_t>(chunk.bytes), chunk.filter_mask, chunk.offset});
  for (int level = 0;; ++level) {
    std::vector<Child> parents;  // the nodes of this level, as children of the next one
    const std::int64_t level_begin = at;
    const std::size_t node_count = (children.size() + max_children - 1) / max_children;
    for (std::size_t i = 0; i < node_count; ++i, at += node_bytes) {
      const std::size_t begin = i * max_children;
      const std::size_t size = std::min(max_children, children.size() - begin);
      TreeWriter::Siblings siblings;
      if (i > 0) siblings.left = static_cast<std::uint64_t>(at - node_bytes);
      siblings.is_end = i + 1 == node_count;
      if (!siblings.is_end) siblings.right = static_cast<std::uint64_t>(at + node_bytes);
      siblings.next = siblings.is_end ? Child{chunks.back().number, 0, 0, 0} : children[begin + size];
      writer.append_node(std::span(children).subspan(begin, size), level, siblings);
      parents.push_back(children[begin]);
      parents.back().offset = at;
    }
    if (node_count == 1) return {writer.take(), level_begin};
    children = std::move(parents);
  }
}

}  // namespace plait::container::hdf5
