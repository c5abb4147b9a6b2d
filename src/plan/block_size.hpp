/// The longest run that a conversion keeps everywhere.
#pragma once

#include <cstdint>

#include "plait/layout.hpp"

namespace plait::plan {

/// The shortest run over all messages of the conversion, 0 where nothing is moved.
///
/// Dimensions that are cut alike on both sides fuse into longer runs, fastest first.
/// cost  O(dimensions), and for a dimension that is cut differently O(min(N / larger block, smaller block / gcd)).
std::int64_t block_size(const Layout& source, const Layout& target);

}  // namespace plait::plan
