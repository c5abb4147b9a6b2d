/// Layouts of parts of arrays.
#pragma once

#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::layout {

/// Returns the layout of the box of `shape` elements that begins at `origin`. Each rank has those of its elements that
/// are in the box, and indices count from the origin. The layout has no halo.
/// pre   The box is inside the array.
/// cost  As the constructor of Layout.
Layout section(const Layout& whole, const Extents& origin, const Extents& shape);

/// Returns the layout of a region. Its indices count only the indices in the region, and dimensions with a single
/// index are omitted.
/// pre   The region is inside the array, and has a slice for each of its dimensions.
Layout section(const Layout& whole, const Region& region);

}  // namespace plait::layout
