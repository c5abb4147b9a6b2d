/// The longest run that a conversion keeps everywhere.
#pragma once

#include <cstdint>

#include "plait/layout.hpp"

namespace plait::plan {

/// The shortest run over all messages of the conversion, 0 where nothing is moved.
///
/// Runs that are whole on both sides fuse with the next slower dimension, fastest first.
/// cost  O(dimensions * log N); a `balanced` or `gen_block` dimension that the other side deals differently costs
/// O(its coordinates * log of them).
std::int64_t block_size(const Layout& source, const Layout& target);

}  // namespace plait::plan
