/// What a local array takes from others.
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
  std::size_t source = 0;  ///< which of the source arrays
  plan::Product pieces;
};

/// Dimensions of an array, slowest in memory first.
using DimensionOrder = std::vector<std::size_t>;

/// That of a layout's local arrays.
inline DimensionOrder order_of(const Layout& layout) { return {layout.order().begin(), layout.order().end()}; }

/// Targets of so many bytes and more go past the caches: they would not stay there in any case.  Tests lower it.
inline std::atomic<std::int64_t> streamed_target{std::int64_t{4} << 20};

}  // namespace plait::exchange
