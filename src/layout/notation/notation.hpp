/// The spelling of layouts in HPF's notation: `8x12 (block, cyclic(3)) onto (2, 2) ranks=F order=F`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plait/layout.hpp"

namespace plait::layout {

/// The parts of a layout's text; omitted parts are empty.
struct Notation {
  std::optional<Extents> shape;
  std::vector<Distribution> distributions;
  std::optional<Extents> grid;
  std::optional<Order> ranks;
  std::optional<Order> order;
  LayoutOptions options;
};

/// Parses a layout.
/// errors  kArgument: the text, the position in it (from 1) and what was expected there.
Notation parse_notation(std::string_view text);

/// Parses `(2*d1+1, *, 3)`, the content of each template dimension.
/// errors  As parse_notation().
std::vector<Alignment> parse_alignment(std::string_view text);
/// Parses `(1, 2:0)`.
/// errors  As parse_notation().
std::vector<Halo> parse_halo(std::string_view text);

/// Makes the layout, with defaults for omitted parts: ranks and order C, the grid `()` if no dimension is
/// distributed.
/// errors  kArgument: no grid for distributed dimensions, and the errors of the constructor of Layout.
Layout make_layout(const Notation& notation, const Extents& shape);

}  // namespace plait::layout
