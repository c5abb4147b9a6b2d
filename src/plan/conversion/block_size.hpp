/// The longest run that a conversion keeps everywhere.
#pragma once

#include <cstdint>

#include "plait/layout.hpp"

namespace plait::plan {

/// The shortest run over all messages of the conversion, 0 where nothing is moved.
///
/// Runs that are whole on both sides fuse with the next slower dimension, fastest first.
/// cost  O(dimensions * log N); a `balanced` or `gen_block` dimension that the other side distributes differently costs
/// O(its coordinates * log of them), and one that is distributed from another coordinate on, aligned, nested, indirect
/// or with a halo the pieces of all its pairs of coordinates.
std::int64_t block_size(const Layout& source, const Layout& target, bool fill_halo = false);

}  // namespace plait::plan
