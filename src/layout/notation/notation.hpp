/// The spelling of layouts: HPF's, `8x12 (block, cyclic(3)) onto (2, 2) ranks=F order=F`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plait/layout.hpp"

namespace plait::layout {

/// What a text says; the parts that it may leave out are empty.
struct Notation {
  std::optional<Extents> shape;
  std::vector<Distribution> distributions;
  std::optional<Extents> grid;
  std::optional<Order> ranks;
  std::optional<Order> order;
  LayoutOptions options;
};

/// errors  kArgument: the text, the position in it (from 1) and what was expected there.
Notation parse_notation(std::string_view text);

/// `(2*d1+1, *, 3)`: what each template dimension holds.  errors  as above.
std::vector<Alignment> parse_alignment(std::string_view text);
/// `(1, 2:0)`.  errors  as above.
std::vector<Halo> parse_halo(std::string_view text);

/// Fills in what the text may leave out: ranks and order C, the grid `()` where nothing is distributed.
/// errors  kArgument: no grid for distributed dimensions, and all that the constructor of Layout refuses.
Layout make_layout(const Notation& notation, const Extents& shape);

}  // namespace plait::layout
