/// A part of an array as an array of its own.
#pragma once

#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::layout {

/// Returns the layout of the box of `shape` elements from `origin` on: the same ranks, each with its elements of the
/// box, relative to the first one of the box; without a halo.
/// pre   The box is inside the array.
/// cost  That of making the layout.
Layout section(const Layout& whole, const Extents& origin, const Extents& shape);

/// Returns the layout of a region. Its indices count only the indices in the region, and dimensions with a single
/// index are omitted.
/// pre   The region is inside the array, and has a slice for each of its dimensions.
Layout section(const Layout& whole, const Region& region);

}  // namespace plait::layout
