/// What one coordinate holds of a dimension, and where in its local array: its own indices, and its halo where asked.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"

namespace plait::plan {

/// The members of `set` lie at the positions `position`, `position` + 1, ... of the padded local array.
struct Span {
  IndexSet set;
  std::int64_t position = 0;
};

/// The own indices of a coordinate, or with `fill_halo` all that its padded array has room for: one span, and one more
/// for each end of a periodic dimension that the halo passes.  None where the coordinate owns nothing.
std::vector<Span> spans(const Layout& layout, int dimension, std::int64_t coordinate, bool fill_halo);

/// The coordinates of `layout` with a span that can meet `set`, ascending; perhaps some that have none.
/// cost  as partners().
std::vector<std::int64_t> coordinates_meeting(const IndexSet& set, const Layout& layout, int dimension, bool fill_halo);

/// The elements of a rank, each with its position: all combinations of one span a dimension.
struct Holding {
  std::vector<IndexSet> sets;
  Extents positions;
};
std::vector<Holding> holdings(const Layout& layout, std::int64_t rank, bool fill_halo);

}  // namespace plait::plan
