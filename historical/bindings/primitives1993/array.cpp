// The layout of an array from the lists of array_map, and the position of its elements in a local array.
//
// Problem: a Fortran program declares a local array with two sizes, size1 and size2, which may be larger than the
// rank's share and may combine several dimensions. pread has to find element (i, j, k) in it.
//
// Idea: the sizes are compared with the largest share of any rank, so that ranks with equal declarations get equal
// strides. Example: a share of (3, 4, 2) in an array declared as size1 = 5, size2 = 8. The first dimension has
// capacity 5, so element (i, j, k) is at i + 5 * (j + 4 * k). With size1 = 12 = 3 * 4 and size2 = 2 the first two
// dimensions are combined, and the share is dense.

#include "primitives1993/array.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "primitives1993/lists.hpp"

namespace plait::primitives {

namespace {

/// Returns the processors of a dimension. A collapsed dimension has one; its entry is 1 or don't care.
std::int64_t count_processors(std::int64_t entry, std::int64_t code, std::size_t d) {
  if (code == kCollapsed && (entry == kNone || entry == 0 || entry == 1)) return 1;
  if (code == kCollapsed)
    base::throw_argument_error("dimension ", d + 1, " is not distributed (distr_info 0), but proc_info(", d + 1,
                               ") is ", entry, "; give it one processor");
  if (entry < 1)
    base::throw_argument_error("proc_info(", d + 1, ") is ", entry, "; dimension ", d + 1,
                               " is distributed and needs at least one processor");
  return entry;
}

Distribution make_distribution(const MappedArray& array, std::size_t d) {
  switch (array.codes[d]) {
    case kBlock: return Distribution::blocked();
    case kCyclic: return Distribution::cyclic();
    case kBlockCyclic: return Distribution::cyclic(array.blocks[d]);
    default: return Distribution::collapsed();
  }
}

/// Returns the ranks of the grid's positions with the last coordinate fastest, the order of rank lists in layouts.
Extents row_major_ranks(const Grid& grid) {
  Extents result(grid.ranks.size());
  for (std::size_t position = 0; position < grid.ranks.size(); ++position) {
    const Extents coordinates = grid_coordinates(grid, static_cast<std::int64_t>(position));
    std::int64_t index = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) index = index * grid.shape[d] + coordinates[d];
    result[static_cast<std::size_t>(index)] = grid.ranks[position];
  }
  return result;
}

/// Returns the largest extent of any rank in each dimension.
Extents largest_share(const Layout& layout, std::size_t ranks) {
  Extents largest(layout.shape().size(), 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Extents shape = layout.local_shape(static_cast<std::int64_t>(rank));
    for (std::size_t d = 0; d < shape.size(); ++d) largest[d] = std::max(largest[d], shape[d]);
  }
  return largest;
}

/// True if the local array, which is not empty, fits into size1 x size2 with its first dimension along the columns.
bool fits(const Extents& shape, std::int64_t size1, std::int64_t size2) {
  return shape.front() <= size1 && base::checked_product(shape, "number of local elements") / shape.front() <= size2;
}

/// True if size1 is the product of two or more of the first dimensions, and size2 has capacity for the others.
bool is_folded(const Extents& shape, std::int64_t size1, std::int64_t size2) {
  const std::int64_t elements = base::checked_product(shape, "number of local elements");
  std::int64_t leading = shape.front();
  for (std::size_t d = 1; d + 1 < shape.size(); ++d) {
    leading *= shape[d];
    if (leading == size1 && elements / leading <= size2) return true;
  }
  return false;
}

}  // namespace

MappedArray make_array(const std::string& name, const MapLists& lists, std::int64_t ranks) {
  const auto& [size_info, distr_info, block_size, proc_info] = lists;
  MappedArray array;
  array.name = name;
  array.size = list_entries(size_info, "size_info");
  for (std::size_t d = 0; d < array.size.size(); ++d) {
    const std::int64_t code = distr_info[d];
    if (code < kCollapsed || code > kBlockCyclic)
      base::throw_argument_error("distr_info(", d + 1, ") is ", code,
                                 "; use 0 (not distributed), 1 (BLOCK), 2 (CYCLIC) or 3 (BLOCK-CYCLIC)");
    if (code == kBlockCyclic && block_size[d] < 1)
      base::throw_argument_error("block_size(", d + 1, ") is ", block_size[d],
                                 "; a BLOCK-CYCLIC dimension needs blocks of at least 1");
    array.codes.push_back(code);
    array.blocks.push_back(code == kBlockCyclic ? block_size[d] : kNone);
    array.grid.push_back(count_processors(proc_info[d], code, d));
  }
  const std::int64_t processors = base::checked_product(array.grid, "processors of the grid");
  if (processors != ranks)
    base::throw_argument_error("proc_info ", base::tuple_text(array.grid), " has ", processors,
                               " processors, but the program runs on ", ranks, "; give one whose product is ", ranks);
  return array;
}

const Layout& current_layout(MappedArray& array, const Grid& grid, std::int64_t descriptor) {
  if (array.layout && array.grid_version == grid.version) return *array.layout;
  if (without_trailing_ones(array.grid) != without_trailing_ones(grid.shape))
    base::throw_argument_error("array '", array.name, "' (descriptor ", descriptor, ") is mapped to the processors ",
                               base::tuple_text(array.grid), ", but the grid in force is ",
                               base::tuple_text(grid.shape), "; call proc_map with the array's proc_info first");
  std::vector<Distribution> distributions;
  Extents axes;
  for (std::size_t d = 0; d < array.size.size(); ++d) {
    distributions.push_back(make_distribution(array, d));
    if (array.codes[d] != kCollapsed) axes.push_back(array.grid[d]);
  }
  LayoutOptions options;
  // Omitted axes have one processor, so the positions are those of the whole grid.
  if (grid.mode != kColumnMajor && grid.mode != kRowMajor) options.rank_list = row_major_ranks(grid);
  array.layout.emplace(array.size, std::move(distributions), std::move(axes),
                       grid.mode == kColumnMajor ? Order::kFortran : Order::kC, Order::kFortran, std::move(options));
  array.largest = largest_share(*array.layout, grid.ranks.size());
  array.grid_version = grid.version;
  return *array.layout;
}

Extents local_strides(const Extents& shape, const Extents& largest, const DeclaredArray& local,
                      std::int64_t element_bytes, const std::string& array) {
  const std::int64_t size1 = local.size1;
  const std::int64_t size2 = local.size2;
  const std::int64_t elements = base::checked_product(shape, "number of local elements");
  if (size1 < 0 || size2 < 0)
    base::throw_argument_error("a local array of ", size1, " x ", size2,
                               " elements is impossible; give its declared sizes");
  const std::int64_t capacity = base::checked_multiply(size1, size2, "elements of the local array");
  if (elements > capacity)
    base::throw_argument_error("the share of ", array, " is ", shape_to_string(shape), ", which is ", elements,
                               " elements, but the local array of ", size1, " x ", size2, " has room for ", capacity,
                               "; declare it larger");
  if (elements == 0) return {};
  const bool has_largest_capacity = base::checked_product(largest, "number of local elements") <= capacity;
  Extents declared = has_largest_capacity ? largest : shape;
  if (fits(declared, size1, size2)) {
    declared.front() = size1;
  } else if (size2 == 1) {
    return {};
  } else if (!is_folded(declared, size1, size2)) {
    const bool is_matrix_too = shape.front() < size1 && elements > shape.front() && fits(shape, size1, size2);
    if (shape.size() > 2 || is_matrix_too)
      base::throw_argument_error("the position of the share ", shape_to_string(shape), " of ", array,
                                 " in a local array of ", size1, " x ", size2,
                                 " is not clear; declare the array for the largest share, ", shape_to_string(largest),
                                 ", with at least ", largest.front(), " x ",
                                 base::checked_product(largest, "number of local elements") / largest.front(),
                                 ", or pass its number of elements and 1 for a dense one");
    return {};
  }
  Extents strides;
  std::int64_t stride = element_bytes;
  for (const std::int64_t extent : declared) {
    strides.push_back(stride);
    stride = base::checked_multiply(stride, extent, "bytes of the local array");
  }
  return declared == shape ? Extents{} : strides;
}

Extents make_table(const MappedArray& array) {
  Extents table;
  for (const Extents* row : {&array.size, &array.codes, &array.blocks, &array.grid})
    for (std::size_t d = 0; d < kMaxPrimitiveDimensions; ++d) table.push_back(d < row->size() ? (*row)[d] : kNone);
  return table;
}

std::string to_string(const MappedArray& array) {
  const Extents table = make_table(array);
  std::string out = base::text(base::aligned_left("Array", 18), ' ', array.name, " (", array.type, ")\n");
  const char* const names[] = {"Global Size", "Distribution Code", "Block Size", "nprocs"};
  for (std::size_t row = 0; row < 4; ++row) {
    out += base::aligned_left(names[row], 18);
    for (std::size_t d = 0; d < kMaxPrimitiveDimensions; ++d)
      base::append_parts(out, ' ', base::aligned_right(base::text(table[row * kMaxPrimitiveDimensions + d]), 6));
    out += '\n';
  }
  return out;
}

}  // namespace plait::primitives
