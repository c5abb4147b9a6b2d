/// Arrays in memory that are read, written or redistributed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plait/layout.hpp"

namespace plait::copy {

/// The local array of one rank: its first element, and the distance of neighbours in each layout dimension in bytes,
/// of any sign.
struct LocalArray {
  std::int64_t rank = 0;
  std::byte* data = nullptr;
  Extents strides;
};

}  // namespace plait::copy
