/// Who has something in common with an index set, and what: one dimension of a conversion.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/pieces.hpp"

namespace plait::plan {

/// The coordinates of `dimension` of `layout` that own at least one index of `set`, ascending.
/// cost  O(coordinates found), or O(blocks of the set) where that is less; never a scan of all indices.
std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension);

/// One coordinate of the other side with what it has in common with an index set.
struct Partner {
  std::int64_t coordinate = 0;
  Pieces pieces;
};

/// The partners of one rank of `mine` in `other`, for each dimension.  In the pieces, `a` is the place in the local array
/// of `mine` and `b` the one in the local array of `other`.
std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other);

/// Steps from one element to the next of each dimension of a dense array, in elements.
Extents dense_strides(const Extents& shape, Order order);

/// How many stretches a product of pieces has that are contiguous in both local arrays, of the given shapes and orders.
std::int64_t runs_of_product(const std::vector<const Pieces*>& pieces, const Extents& shape_a, Order order_a,
                             const Extents& shape_b, Order order_b);

}  // namespace plait::plan
