/// The shortest run of a conversion.
#pragma once

#include <cstdint>

#include "plait/layout.hpp"

namespace plait::plan {

/// Returns the shortest run over all messages of the conversion, or 0 if no element is moved.
///
/// A run that fills both local arrays in a dimension continues in the next slower dimension, so the lengths of such
/// runs are multiplied, from the fastest dimension on.
/// cost    O(dimensions * log N). A `balanced` or `gen_block` dimension that the other side distributes differently
///         costs O(c log c) for c coordinates. A dimension that has a source other than 0, or is aligned, nested,
///         indirect or with a halo costs the pieces of all its pairs of coordinates.
std::int64_t block_size(const Layout& source, const Layout& target, bool fill_halo = false);

}  // namespace plait::plan
