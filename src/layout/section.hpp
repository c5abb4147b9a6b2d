/// A part of an array as an array of its own.
#pragma once

#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait::layout {

/// How the box of `shape` elements from `origin` on lies under a layout: the same ranks, each with its elements of the
/// box, counted from the box's first one; no halo.
/// pre   The box lies in the array.
/// cost  That of making the layout.
Layout section(const Layout& whole, const Extents& origin, const Extents& shape);

/// The same for a region: indices that it leaves out are not counted, and dimensions of which it takes a single index
/// are none of the result's.
/// pre   The region lies in the array, and has a slice for each of its dimensions.
Layout section(const Layout& whole, const Region& region);

}  // namespace plait::layout
