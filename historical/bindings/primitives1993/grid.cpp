#include "primitives1993/grid.hpp"

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "primitives1993/lists.hpp"

namespace plait::primitives {

namespace {

/// Returns the position at index `number` of a path through the whole grid on which each step goes to a neighbour: when
/// a coordinate has reached its end, it runs backwards.
///
/// Example: on the grid (3, 2) the path is (0,0) (1,0) (2,0) (2,1) (1,1) (0,1).
std::int64_t snake_position(const Extents& shape, std::int64_t number) {
  // The digits of `number`, the first one fastest. A digit counts down if the number formed by the higher digits is
  // odd.
  std::int64_t position = 0;
  std::int64_t stride = 1;
  for (const std::int64_t extent : shape) {
    const std::int64_t digit = number % extent;
    number /= extent;
    position += (number % 2 == 0 ? digit : extent - 1 - digit) * stride;
    stride *= extent;
  }
  return position;
}

std::int64_t row_major_position(const Extents& shape, std::int64_t number) {
  Extents coordinates(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = number % shape[d];
    number /= shape[d];
  }
  std::int64_t position = 0;
  for (std::size_t d = shape.size(); d-- > 0;) position = position * shape[d] + coordinates[d];
  return position;
}

void check_user_map(const Extents& map, std::int64_t ranks) {
  std::vector<std::int64_t> first_position(static_cast<std::size_t>(ranks), -1);
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0 || map[i] >= ranks)
      base::throw_argument_error("user_map(", i + 1, ") is ", map[i], "; the ranks are 0 to ", ranks - 1);
    std::int64_t& first = first_position[static_cast<std::size_t>(map[i])];
    if (first >= 0)
      base::throw_argument_error("user_map names rank ", map[i], " twice, in entries ", first + 1, " and ", i + 1,
                                 "; name each of the ", ranks, " ranks once");
    first = static_cast<std::int64_t>(i);
  }
}

}  // namespace

Grid make_grid(const Extents& proc_info, std::int64_t mode, const Extents& user_map, std::int64_t ranks) {
  Grid grid;
  grid.shape = proc_info;
  grid.mode = mode;
  const std::int64_t positions = base::checked_product(proc_info, "processors of the grid");
  if (positions != ranks)
    base::throw_argument_error("the grid ", base::tuple_text(proc_info), " has ", positions,
                               " processors, but the program runs on ", ranks, "; give a proc_info whose product is ",
                               ranks);
  grid.ranks.resize(static_cast<std::size_t>(ranks));
  if (mode == kUserMap) {
    if (static_cast<std::int64_t>(user_map.size()) != ranks)
      base::throw_argument_error("map_mode is -1, but there is no user_map; give the rank of each of the ", ranks,
                                 " positions");
    check_user_map(user_map, ranks);
    grid.ranks = user_map;
    return grid;
  }
  if (mode != kColumnMajor && mode != kRowMajor && mode != kSnake)
    base::throw_argument_error("map_mode is ", mode,
                               "; use -1 (user_map), 0 (column-major), 1 (row-major) or 2 (snake)");
  for (std::int64_t number = 0; number < ranks; ++number) {
    const std::int64_t position = mode == kColumnMajor ? number
                                  : mode == kRowMajor  ? row_major_position(proc_info, number)
                                                       : snake_position(proc_info, number);
    grid.ranks[static_cast<std::size_t>(position)] = number;
  }
  return grid;
}

Extents grid_coordinates(const Grid& grid, std::int64_t position) {
  Extents result;
  for (const std::int64_t extent : grid.shape) {
    result.push_back(position % extent);
    position /= extent;
  }
  return result;
}

Extents make_table(const Grid& grid) {
  const std::size_t columns = grid.ranks.size();
  Extents table((grid.shape.size() + 1) * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const Extents coordinates = grid_coordinates(grid, static_cast<std::int64_t>(column));
    for (std::size_t d = 0; d < coordinates.size(); ++d) table[d * columns + column] = coordinates[d];
    table[coordinates.size() * columns + column] = grid.ranks[column];
  }
  return table;
}

std::string to_string(const Grid& grid) {
  const Extents table = make_table(grid);
  const std::size_t columns = grid.ranks.size();
  std::string out;
  for (std::size_t row = 0; row <= grid.shape.size(); ++row) {
    const char* const short_names[] = {"x-coord", "y-coord", "z-coord"};
    const std::string name = row == grid.shape.size() ? "Proc. Number"
                             : row < 3                ? short_names[row]
                                                      : base::text("coord ", row + 1);
    out += base::aligned_left(name, 14);
    for (std::size_t column = 0; column < columns; ++column)
      out += base::aligned_right(base::text(table[row * columns + column]), 5);
    out += '\n';
  }
  return out;
}

Extents without_trailing_ones(Extents shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

}  // namespace plait::primitives
