/// ADT: the arrays that array_map has been told of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plait/file.hpp"
#include "plait/layout.hpp"
#include "primitives/grid.hpp"

namespace plait::primitives {

/// The codes of distr_info.
enum DistributionCode : std::int64_t { kCollapsed = 0, kBlock = 1, kCyclic = 2, kBlockCyclic = 3 };

/// What array_map is told, and what is made of it.
struct MappedArray {
  std::string name;
  Extents size;  ///< one entry for each dimension, as in the next three
  Extents codes;
  Extents blocks;  ///< -1 but where the code is kBlockCyclic
  Extents grid;
  std::int64_t element_bytes = 4;
  std::string type;                ///< as Fortran calls it
  std::int64_t grid_version = -1;  ///< of the Grid that `layout` was made with
  std::optional<Layout> layout;
  Extents largest;  ///< share of the layout, dimension by dimension
};

/// The lists that array_map takes, of seven entries each.
struct MapLists {
  Extents size_info;
  Extents distr_info;
  Extents block_size;
  Extents proc_info;
};

/// errors  kArgument: lists that do not fit each other or the number of ranks.
MappedArray make_array(const std::string& name, const MapLists& lists, std::int64_t ranks);

/// A local array as the program declares it, of size1 * size2 elements.
struct DeclaredArray {
  void* data;
  std::int64_t size1;
  std::int64_t size2;
};

/// The array's layout on the grid in force, kept until that changes.
/// errors  kArgument: the grid is not the one that the array was mapped to.
const Layout& layout_of(MappedArray& array, const Grid& grid, std::int64_t descriptor);

/// Steps in bytes of a rank's share in a local array; empty for a dense one.
///
/// The position is chosen from the largest share, so that ranks whose sizes are equal all mean the same: element (i, j,
/// k) lies in (i, j, k) of an array that is declared for the largest share, with its sizes but perhaps a larger first
/// one (and more behind it), whose dimensions were multiplied in any way to make two.  Sizes without room for the
/// largest share are the rank's own, and the same goes for its own share.  In a vector (size2 is 1) the share lies
/// densely, as it does where it has at most two dimensions and does not fit the matrix.
/// errors  kArgument: no room for the share, sizes that can be meant in several ways.
Extents local_steps(const Extents& shape, const Extents& largest, const DeclaredArray& local,
                    std::int64_t element_bytes, const std::string& array);

/// The four rows and seven columns of the thesis's table 13, row by row.
Extents table_of(const MappedArray& array);
std::string to_string(const MappedArray& array);

}  // namespace plait::primitives
