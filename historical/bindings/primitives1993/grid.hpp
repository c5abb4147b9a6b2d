/// The logical grid of processors that proc_map has defined: the thesis's array P_INFO (table 14), which assigns a rank
/// to each position of the grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait::primitives {

/// The numberings of proc_map.
enum MapMode : std::int64_t { kUserMap = -1, kColumnMajor = 0, kRowMajor = 1, kSnake = 2 };

/// The current logical grid. Positions are numbered with the first coordinate fastest; coordinates and ranks count
/// from 0.
struct Grid {
  Extents shape;
  std::int64_t mode = kColumnMajor;
  Extents ranks;             ///< rank of each position
  std::int64_t version = 0;  ///< number of calls of proc_map
};

/// Makes a grid.
/// errors  kArgument: more or fewer positions than ranks, an unknown mode, a map that omits a rank.
Grid make_grid(const Extents& proc_info, std::int64_t mode, const Extents& user_map, std::int64_t ranks);

/// Returns the coordinates of a position.
Extents grid_coordinates(const Grid& grid, std::int64_t position);

/// Returns the array of N+1 rows and P columns of the thesis's table 14, row by row: the coordinates, then the ranks.
Extents make_table(const Grid& grid);
std::string to_string(const Grid& grid);

/// Removes the extents of 1 at the end of a grid's shape. Grids are compared in this form.
Extents without_trailing_ones(Extents shape);

}  // namespace plait::primitives
