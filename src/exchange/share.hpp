/// The elements that a local array (the target) takes from other arrays (the sources).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/products.hpp"

namespace plait::exchange {

/// One product of pieces from one source: `a` counts positions of the source array, `b` positions of the target.
struct Share {
  std::size_t source = 0;  ///< index of the source array
  plan::Product pieces;
};

/// Dimensions of an array, slowest in memory first.
using DimensionOrder = std::vector<std::size_t>;

/// Returns the order of the dimensions of a layout's local arrays.
inline DimensionOrder dimension_order(const Layout& layout) { return {layout.order().begin(), layout.order().end()}; }

/// Targets of this many bytes or more are written past the caches by non-temporal stores, because they would not stay
/// in the caches anyway.  Tests lower this limit.
inline std::atomic<std::int64_t> streamed_target{std::int64_t{4} << 20};

}  // namespace plait::exchange
