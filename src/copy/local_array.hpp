/// Arrays in memory that are read, written or redistributed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plait/layout.hpp"

namespace plait::copy {

/// The local array of one rank: the address of its first element, and for each layout dimension the distance in bytes
/// between neighbouring elements, which may be negative.
struct LocalArray {
  std::int64_t rank = 0;
  std::byte* data = nullptr;
  Extents strides;
};

}  // namespace plait::copy
