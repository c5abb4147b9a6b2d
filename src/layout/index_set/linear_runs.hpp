/// The contiguous runs of a product of index sets in the array's linear order.
#pragma once

#include <cstdint>
#include <span>

#include "plait/layout.hpp"

namespace plait::layout {

/// The number of runs and the length of the longest one.
struct LinearRuns {
  std::int64_t count = 0;
  std::int64_t longest = 0;  ///< in elements
};

/// Computes the runs in the order of a dense array of this shape whose dimensions are listed in `order`, slowest
/// first.
/// cost  O(runs of one period of each set).
LinearRuns find_linear_runs(std::span<const IndexSet> sets, const Extents& shape, std::span<const int> order);

}  // namespace plait::layout
