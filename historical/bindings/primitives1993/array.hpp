/// The arrays that array_map has defined: the entries of the thesis's Array Description Table (ADT, table 13).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plait/file.hpp"
#include "plait/layout.hpp"
#include "primitives1993/grid.hpp"

namespace plait::primitives {

/// The codes of distr_info, the argument of array_map that states the distribution of each dimension.
enum DistributionCode : std::int64_t { kCollapsed = 0, kBlock = 1, kCyclic = 2, kBlockCyclic = 3 };

/// An array with the arguments of array_map and the layout that follows from them.
struct MappedArray {
  std::string name;
  Extents size;  ///< one entry for each dimension, as in the next three lists
  Extents codes;
  Extents blocks;  ///< -1 unless the code is kBlockCyclic
  Extents grid;
  std::int64_t element_bytes = 4;
  std::string type;                ///< name in Fortran
  std::int64_t grid_version = -1;  ///< version of the Grid for which `layout` was made
  std::optional<Layout> layout;
  Extents largest;  ///< largest share of any rank in each dimension
};

/// The lists that array_map receives, with seven entries each.
struct MapLists {
  Extents size_info;
  Extents distr_info;
  Extents block_size;
  Extents proc_info;
};

/// Makes an array from its lists.
/// errors  kArgument: lists that do not fit each other or the number of ranks.
MappedArray make_array(const std::string& name, const MapLists& lists, std::int64_t ranks);

/// A local array as declared by the program, with size1 * size2 elements.
struct DeclaredArray {
  void* data;
  std::int64_t size1;
  std::int64_t size2;
};

/// Returns the array's layout on the current grid. It is cached until the grid changes.
/// errors  kArgument: the grid is not the one to which the array was mapped.
const Layout& current_layout(MappedArray& array, const Grid& grid, std::int64_t descriptor);

/// Returns the strides in bytes of a rank's share in a local array; empty for a dense one.
///
/// The positions are determined by the largest share, so that ranks with equal sizes use equal positions. Element (i,
/// j, k) is at (i, j, k) of an array that is declared for the largest share: with its extents, but possibly a larger
/// first one (and more elements after it). Any number of its dimensions may have been multiplied to give the two sizes.
/// Sizes without capacity for the largest share describe the rank's own share, and are interpreted in the same way
/// for it. The share is dense in a vector (size2 is 1), and if it has at most two dimensions and does not fit the
/// matrix.
/// errors  kArgument: no capacity for the share, or ambiguous sizes.
Extents local_strides(const Extents& shape, const Extents& largest, const DeclaredArray& local,
                      std::int64_t element_bytes, const std::string& array);

/// Returns the four rows and seven columns of the thesis's table 13, row by row.
Extents make_table(const MappedArray& array);
std::string to_string(const MappedArray& array);

}  // namespace plait::primitives
