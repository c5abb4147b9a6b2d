/// The indices of one coordinate of a dimension, with or without its halo, and their positions in its local array.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"

namespace plait::plan {

/// A set of indices that are stored at the positions `position`, `position` + 1, ... of a local array, in ascending
/// order.  Positions count the halo, which precedes the coordinate's own indices.
struct Span {
  IndexSet set;
  std::int64_t position = 0;
};

/// Returns the indices that a coordinate owns, or with `fill_halo` all indices of its padded array: one span, and
/// another one for each end of a periodic dimension beyond which the halo reaches.  Empty if the coordinate owns
/// nothing.
std::vector<Span> spans(const Layout& layout, int dimension, std::int64_t coordinate, bool fill_halo);

/// Returns the coordinates of `layout` with a span that shares an index with `set`, ascending, and possibly some
/// without one.
/// cost    As partners().
std::vector<std::int64_t> coordinates_meeting(const IndexSet& set, const Layout& layout, int dimension, bool fill_halo);

/// Elements of a rank: all combinations of the indices of one span for each dimension.  `positions` are the positions
/// of the spans in the local array.
struct RankElements {
  std::vector<IndexSet> sets;
  Extents positions;
};
/// Returns all elements of a rank: one entry for each combination of spans.
std::vector<RankElements> holdings(const Layout& layout, std::int64_t rank, bool fill_halo);

}  // namespace plait::plan
