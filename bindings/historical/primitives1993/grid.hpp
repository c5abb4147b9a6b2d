/// P_INFO: which rank stands where in the logical grid of processors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait::primitives {

/// How proc_map numbers a grid.
enum MapMode : std::int64_t { kUserMap = -1, kColumnMajor = 0, kRowMajor = 1, kSnake = 2 };

/// The logical grid in force.  Positions are counted with the first coordinate fastest, coordinates and ranks from 0.
struct Grid {
  Extents shape;
  std::int64_t mode = kColumnMajor;
  Extents ranks;             ///< of each position
  std::int64_t version = 0;  ///< counts the calls of proc_map
};

/// errors  kArgument: more or fewer positions than ranks, an unknown mode, a map that leaves out a rank.
Grid make_grid(const Extents& proc_info, std::int64_t mode, const Extents& user_map, std::int64_t ranks);

/// Coordinates of a position.
Extents coordinates_of(const Grid& grid, std::int64_t position);

/// The array of N+1 rows and P columns of the thesis's table 14, row by row: the coordinates, then the ranks.
Extents table_of(const Grid& grid);
std::string to_string(const Grid& grid);

/// The grid with the ones at its end left out, by which grids are compared.
Extents without_ones(Extents shape);

}  // namespace plait::primitives
