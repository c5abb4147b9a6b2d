/// Who has something in common with an index set, and what: one dimension of a conversion.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/pieces.hpp"

namespace plait::plan {

/// The coordinates of `dimension` of `layout` that can own an index of `set`, ascending: all that do, and where both
/// sides are cyclic perhaps some that would if the dimension were longer. cost  O(coordinates found), or O(blocks of
/// the set) where that is less; never a scan of all indices.
std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension);

/// What one dimension of a message adds to its number of elements and runs.  `a` is one local array, `b` the other one.
struct Overlap {
  std::int64_t elements = 0;
  std::int64_t runs = 0;
  std::int64_t extent_a = 0;  ///< of the local array in this dimension
  std::int64_t extent_b = 0;
  bool at_both_ends = false;  ///< has the first index of both local arrays, and the last one of both
};

/// cost  O(pieces).
Overlap overlap_of(const Pieces& pieces, std::int64_t extent_a, std::int64_t extent_b);

/// One coordinate of the other side with what it has in common with an index set.
struct Partner {
  std::int64_t coordinate = 0;
  Pieces pieces;
  Overlap overlap;
};

/// The partners of one rank of `mine` in `other`, for each dimension.  In the pieces, `a` is the place in the local
/// array of `mine` and `b` the one in the local array of `other`.
std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other);

/// Steps from one element to the next of each dimension of a dense array, in elements.
Extents dense_strides(const Extents& shape, Order order);

/// How many stretches a product of overlaps, one of each dimension, has that are contiguous in both local arrays.
/// cost  O(dimensions).
std::int64_t runs_of_product(const std::vector<const Overlap*>& overlaps, Order order_a, Order order_b);

}  // namespace plait::plan
