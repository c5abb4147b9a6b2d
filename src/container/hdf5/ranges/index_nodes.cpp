// Finding the nodes of a tree of chunks, level by level (HDF5 File Format Specification 3.0, section III.A).
//
// Problem: the HDF5 library reads a tree node by node, and the nodes are scattered between the chunks. A tree of 10^5
// chunks has 2,000 nodes, which would take 2,000 requests, one after another.
//
// Idea: a node states where its children are. All nodes of a level are read together before the library walks the tree.
// This code only determines which blocks are read in advance. The library reads the index itself.
//
// A node of version 1 has a header of 24 bytes with the signature TREE, its kind, its level and the number of its
// children. Keys and addresses of children alternate after it. In N dimensions a key has 8 + 8 * (N + 1) bytes.
// Example: a dataset of 2 dimensions and 10^5 chunks, at most 64 children a node. A key has 32 bytes, so that a node
// has 24 + 65 * 32 + 64 * 8 = 2,616. Level 2 has one node, level 1 has 30, level 0 has 1,725: three rounds of requests.
//
// A node of version 2 has a header of 6 bytes, its records, and a pointer to each child: the address of the child, the
// number of its records and, above the lowest two levels, the number of all records below it. The width of these
// numbers depends on how many records fit into a node of a level.
// Example: nodes of 2,048 bytes, records of 24. A leaf has at most (2048 - 10) / 24 = 84 records, a number of 1 byte.
// A node of level 1 has pointers of 8 + 1 bytes, hence at most (2048 - 10 - 9) / (24 + 9) = 61 records and 62 children.
//
// An extensible array has an index block with the first elements and the addresses of data blocks and of super blocks;
// super blocks have the addresses of further data blocks. Data blocks form groups: group u has 2^(u/2) blocks (exponent
// rounded down), each of 2^((u+1)/2) times the minimum number of elements. The addresses of the first groups are in the
// index block, and each further group has a super block.
// Example: a block has at least 16 elements, and a super block at least 4 addresses. The groups 0 to 3 have 1, 1, 2 and
// 2 blocks of 16, 32, 32 and 64 elements, whose 6 addresses are in the index block. Group 4 has a super block with 4
// addresses.

#include "container/hdf5/ranges/index_nodes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "container/hdf5/changing/fields.hpp"
#include "container/hdf5/changing/numbers.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::int64_t kMaxLevels = 40;  // more than any tree in a file can have; protects from damaged trees
constexpr std::int64_t kAddressBytes = 8;
// Kinds of index in a layout message of version 4, and the bytes of their parameters.
constexpr std::uint64_t kExtensibleArrayIndex = 4;
constexpr std::size_t kExtensibleArrayParameterBytes = 5;
constexpr std::uint64_t kBtreeV2Index = 5;
constexpr std::size_t kBtreeV2ParameterBytes = 6;

bool begins_with(std::span<const std::byte> bytes, std::string_view signature) {
  return bytes.size() >= signature.size() && std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

std::int64_t signed_number(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  return static_cast<std::int64_t>(number_in(bytes, at, count));
}

/// Returns the number of bytes in which a B-tree of version 2 stores numbers up to `max`.
std::int64_t number_width(std::int64_t max) {
  return max <= 0 ? 1 : (std::bit_width(static_cast<std::uint64_t>(max)) - 1) / 8 + 1;
}

}  // namespace

std::vector<std::byte> IndexNodes::read(std::int64_t offset, std::int64_t bytes) {
  if (offset < 0 || bytes <= 0 || offset > file_.size() || bytes > file_.size() - offset) return {};
  std::vector<std::byte> found(static_cast<std::size_t>(bytes));
  file_.read({{offset, found.data(), bytes}});
  return found;
}

bool IndexNodes::fits_in_file(std::size_t count, std::int64_t node_bytes) const {
  return std::cmp_less_equal(count, file_.size() / node_bytes);
}

void IndexNodes::visit(const Report& report) {
  const ChangedFields fields = find_fields(file_, index_.header);
  if (fields.layout_bytes == 0) return;
  const std::vector<std::byte> layout = read(fields.layout, fields.layout_bytes);
  const std::uint64_t version = layout.empty() ? 0 : number_in(layout, 0, 1);
  if (version >= 1 && version <= 3) {
    const std::size_t at = static_cast<std::size_t>(fields.index.offset - fields.layout);
    if (at + 8 <= layout.size()) visit_btree_v1(signed_number(layout, at, 8), report);
  } else if (version == 4 && layout.size() > 5) {
    // The message has the version, class, flags, number of dimensions and bytes of an extent (1 byte each), the
    // extents, the kind of index (1 byte), its parameters, and its address.
    const std::size_t at = 5 + number_in(layout, 3, 1) * number_in(layout, 4, 1);
    const std::uint64_t kind = at < layout.size() ? number_in(layout, at, 1) : 0;
    if (kind == kBtreeV2Index && at + 1 + kBtreeV2ParameterBytes + kAddressBytes <= layout.size())
      visit_btree_v2(signed_number(layout, at + 1 + kBtreeV2ParameterBytes, 8), report);
    if (kind == kExtensibleArrayIndex && at + 1 + kExtensibleArrayParameterBytes + kAddressBytes <= layout.size())
      visit_extensible_array(signed_number(layout, at + 1 + kExtensibleArrayParameterBytes, 8), report);
  }
}

void IndexNodes::visit_btree_v1(std::int64_t root, const Report& report) {
  constexpr std::int64_t kNodeHeaderBytes = 24;
  const std::int64_t key_bytes = 8 + 8 * (index_.dimensions + 1);
  const std::int64_t max_children = index_.tree_children;
  const std::int64_t node_bytes = kNodeHeaderBytes + (max_children + 1) * key_bytes + max_children * kAddressBytes;
  std::vector<FileRange> nodes{{root, node_bytes}};
  for (std::int64_t level = kMaxLevels; level > 0 && !nodes.empty();) {
    report(nodes);
    std::vector<FileRange> children;
    for (const FileRange& node : nodes) {
      const std::vector<std::byte> bytes = read(node.offset, node.bytes);
      if (!begins_with(bytes, "TREE\1")) return;
      const std::int64_t node_level = signed_number(bytes, 5, 1);
      const std::int64_t count = signed_number(bytes, 6, 2);
      if (node_level >= level || count > max_children) return;
      if (&node == &nodes.back()) level = node_level;
      if (node_level == 0) return;  // leaves: all nodes in `nodes` are on the same level
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(kNodeHeaderBytes + i * (key_bytes + kAddressBytes) + key_bytes);
        children.push_back({signed_number(bytes, at, kAddressBytes), node_bytes});
      }
      if (!fits_in_file(children.size(), node_bytes)) return;
    }
    nodes = std::move(children);
  }
}

/// The parameters of a B-tree of version 2, and the sizes that follow from them.
struct IndexNodes::BtreeV2 {
  std::int64_t node_bytes = 0;
  std::int64_t record_bytes = 0;
  std::int64_t count_bytes = 0;           ///< bytes of the number of records of a child, in its parent
  std::vector<std::int64_t> max_below{};  ///< for each level, maximum number of records of a node and all nodes below

  /// Returns the size of a pointer in a node of a level above 0.
  std::int64_t pointer_bytes(std::int64_t level) const {
    const std::int64_t total_bytes = level > 1 ? number_width(max_below[static_cast<std::size_t>(level - 1)]) : 0;
    return kAddressBytes + count_bytes + total_bytes;
  }
};

bool IndexNodes::add_children(const Node& node, const BtreeV2& tree, std::int64_t level, std::vector<Node>& children) {
  const std::vector<std::byte> bytes = read(node.offset, tree.node_bytes);
  if (!begins_with(bytes, "BTIN")) return false;
  constexpr std::int64_t kNodeHeaderBytes = 6;
  const std::int64_t pointer_bytes = tree.pointer_bytes(level);
  const std::int64_t pointers = kNodeHeaderBytes + node.records * tree.record_bytes;
  if (pointers + (node.records + 1) * pointer_bytes > tree.node_bytes) return false;
  for (std::int64_t i = 0; i <= node.records; ++i) {
    const auto at = static_cast<std::size_t>(pointers + i * pointer_bytes);
    children.push_back(
        {signed_number(bytes, at, 8), signed_number(bytes, at + 8, static_cast<std::size_t>(tree.count_bytes))});
  }
  return true;
}

void IndexNodes::visit_btree_v2(std::int64_t header, const Report& report) {
  constexpr std::int64_t kHeaderBytes = 38;
  constexpr std::int64_t kOverhead = 10;  // bytes of a node's header and checksum
  report(std::vector<FileRange>{{header, kHeaderBytes}});
  const std::vector<std::byte> head = read(header, kHeaderBytes);
  if (!begins_with(head, "BTHD")) return;
  // The header states the sizes of nodes and records, the depth, and the address of the root and its number of records.
  BtreeV2 tree{signed_number(head, 6, 4), signed_number(head, 10, 2)};
  const std::int64_t depth = signed_number(head, 12, 2);
  if (tree.record_bytes == 0 || tree.node_bytes <= kOverhead || depth > kMaxLevels) return;
  const std::int64_t max_leaf_records = (tree.node_bytes - kOverhead) / tree.record_bytes;
  tree.count_bytes = number_width(max_leaf_records);
  tree.max_below.push_back(max_leaf_records);
  for (std::int64_t level = 1; level <= depth; ++level) {
    const std::int64_t pointer_bytes = tree.pointer_bytes(level);
    const std::int64_t max_records =
        (tree.node_bytes - kOverhead - pointer_bytes) / (tree.record_bytes + pointer_bytes);
    std::int64_t below = 0;
    if (max_records <= 0 || __builtin_mul_overflow(max_records + 1, tree.max_below.back(), &below)) return;
    tree.max_below.push_back(below + max_records);
  }
  std::vector<Node> nodes{{signed_number(head, 16, 8), signed_number(head, 24, 2)}};
  for (std::int64_t level = depth; !nodes.empty(); --level) {
    std::vector<FileRange> ranges;
    for (const Node& node : nodes) ranges.push_back({node.offset, tree.node_bytes});
    report(ranges);
    if (level == 0) return;
    std::vector<Node> children;
    for (const Node& node : nodes)
      if (!add_children(node, tree, level, children) || !fits_in_file(children.size(), tree.node_bytes)) return;
    nodes = std::move(children);
  }
}

/// The parameters of an extensible array, and the sizes that follow from them.
struct IndexNodes::ExtensibleArray {
  std::int64_t element_bytes = 0;
  std::int64_t min_elements = 0;   ///< minimum number of elements of a data block
  std::int64_t page_elements = 0;  ///< data blocks with more elements are divided into pages, each with a checksum
  std::int64_t prefix = 0;         ///< bytes of a data block or super block before its content

  /// Returns the number of data blocks of a group.
  std::int64_t blocks(std::int64_t group) const { return std::int64_t{1} << (group / 2); }
  /// Returns the number of elements of each data block of a group.
  std::int64_t elements(std::int64_t group) const { return (std::int64_t{1} << ((group + 1) / 2)) * min_elements; }
  /// Returns the number of pages of each data block of a group; 0 if the blocks are not divided into pages.
  std::int64_t pages(std::int64_t group) const {
    return elements(group) > page_elements ? elements(group) / page_elements : 0;
  }
  /// Returns the size of each data block of a group.
  std::int64_t data_bytes(std::int64_t group) const {
    return prefix + kChecksumBytes + elements(group) * element_bytes + pages(group) * kChecksumBytes;
  }
  /// Returns the offset of the addresses in a super block, after the bits of initialized pages.
  std::int64_t addresses_offset(std::int64_t group) const { return prefix + blocks(group) * ((pages(group) + 7) / 8); }

  static constexpr std::int64_t kChecksumBytes = 4;
};

void IndexNodes::visit_extensible_array(std::int64_t header, const Report& report) {
  constexpr std::int64_t kHeaderBytes = 72;
  constexpr std::int64_t kBlockHeaderBytes = 14;
  constexpr std::int64_t kMaxBits = 32;  // the index of an array with more elements does not fit into memory
  report(std::vector<FileRange>{{header, kHeaderBytes}});
  const std::vector<std::byte> head = read(header, kHeaderBytes);
  if (!begins_with(head, "EAHD")) return;
  const std::int64_t element_bytes = signed_number(head, 6, 1);
  const std::int64_t bits = signed_number(head, 7, 1);  // the array has at most 2^bits elements
  const std::int64_t index_elements = signed_number(head, 8, 1);
  const std::int64_t min_elements = signed_number(head, 9, 1);
  const auto min_addresses = static_cast<unsigned>(number_in(head, 10, 1));
  const std::int64_t page_elements = std::int64_t{1} << (number_in(head, 11, 1) & 31U);
  const ExtensibleArray array{element_bytes, min_elements, page_elements, kBlockHeaderBytes + (bits + 7) / 8};
  if (min_elements == 0 || !std::has_single_bit(min_addresses) || bits > kMaxBits) return;
  const auto min_bits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(min_elements)));
  const std::int64_t group_count = 1 + bits - (min_bits - 1);
  const std::int64_t first_super_group = std::int64_t{2} * (std::bit_width(min_addresses) - 1);
  const std::int64_t first_address = kBlockHeaderBytes + index_elements * element_bytes;
  const std::int64_t address_count =
      2 * (std::int64_t{min_addresses} - 1) + std::max<std::int64_t>(group_count - first_super_group, 0);
  const FileRange index{signed_number(head, 60, 8),
                        first_address + address_count * kAddressBytes + ExtensibleArray::kChecksumBytes};
  report({&index, 1});
  const std::vector<std::byte> block = read(index.offset, index.bytes);
  if (!begins_with(block, "EAIB")) return;
  std::vector<FileRange> blocks;           // to which the index block refers: data blocks, then super blocks
  std::vector<std::int64_t> super_groups;  // groups of the super blocks, which are the last entries of `blocks`
  auto at = static_cast<std::size_t>(first_address);
  for (std::int64_t group = 0; group < first_super_group; ++group)
    for (std::int64_t i = 0; i < array.blocks(group); ++i, at += 8)
      blocks.push_back({signed_number(block, at, 8), array.data_bytes(group)});
  for (std::int64_t group = first_super_group; group < group_count; ++group, at += 8) {
    const std::int64_t offset = signed_number(block, at, 8);
    if (offset < 0) continue;  // undefined address: the super block has not been allocated
    blocks.push_back(
        {offset, array.addresses_offset(group) + array.blocks(group) * 8 + ExtensibleArray::kChecksumBytes});
    super_groups.push_back(group);
  }
  report(blocks);
  std::vector<FileRange> further_blocks;  // to which super blocks refer
  for (std::size_t i = 0; i < super_groups.size(); ++i) {
    const std::int64_t group = super_groups[i];
    const FileRange& range = blocks[blocks.size() - super_groups.size() + i];
    const std::vector<std::byte> super_block = read(range.offset, range.bytes);
    if (!begins_with(super_block, "EASB")) return;
    at = static_cast<std::size_t>(array.addresses_offset(group));
    for (std::int64_t block_number = 0; block_number < array.blocks(group); ++block_number, at += 8)
      further_blocks.push_back({signed_number(super_block, at, 8), array.data_bytes(group)});
  }
  report(further_blocks);
}

}  // namespace plait::container::hdf5
