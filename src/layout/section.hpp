/// A box of an array as an array of its own.
#pragma once

#include "plait/layout.hpp"

namespace plait::layout {

/// How the box of `shape` elements from `origin` on lies under a layout: the same ranks, each with its elements of the
/// box, counted from the box's first one; no halo.
/// pre   The box lies in the array.
/// cost  That of making the layout.
Layout section(const Layout& whole, const Extents& origin, const Extents& shape);

}  // namespace plait::layout
