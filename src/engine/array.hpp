/// Arrays in memory that an engine moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plait/layout.hpp"

namespace plait::engine {

/// The local array of one rank: where its first element lies and the distance of neighbours in each layout dimension,
/// in bytes, of any sign.
struct LocalArray {
  std::int64_t rank = 0;
  std::byte* data = nullptr;
  Extents steps;
};

/// Seconds that one worker spent, for people and benchmarks.
struct Times {
  double io = 0;    ///< in calls of the store
  double copy = 0;  ///< dealing out, packing and unpacking
  double wait = 0;  ///< waiting for other workers and for messages
  double total = 0;
};

}  // namespace plait::engine
