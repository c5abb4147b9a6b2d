/// Who has something in common with an index set, and what: one dimension of a conversion.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// The coordinates of `dimension` of `layout` that can own an index of `set`, ascending: all that do, and perhaps some
/// that would if the dimension were longer.
/// cost  O(coordinates found), or O(runs of the set) where that is less; never a scan of all indices.
std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension);

/// What one dimension of a message adds to its number of elements and runs.  `a` is one local array, `b` the other one.
struct Overlap {
  std::int64_t elements = 0;
  std::int64_t runs = 0;
  std::int64_t extent_a = 0;  ///< of the local array in this dimension, halo included
  std::int64_t extent_b = 0;
  bool at_both_ends = false;  ///< has the first index of both local arrays, and the last one of both
};

/// cost  O(pieces).
Overlap overlap_of(const Pieces& pieces, std::int64_t extent_a, std::int64_t extent_b);

/// One coordinate of the other side with what it has in common with the spans of a coordinate: one entry for each pair
/// of spans that have anything.
struct Partner {
  std::int64_t coordinate = 0;
  std::vector<Overlap> overlaps;
};

/// The partners of one rank of `mine` in `other`, for each dimension.  In the overlaps, `a` is the local array of
/// `mine` and `b` that of `other`, halos included.  Of the two sides `fill_mine` and `fill_other` want their halos
/// filled.
std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other,
                                                        bool fill_mine = false, bool fill_other = false);

/// Moves the positions of all pieces.
void shift(Pieces& pieces, std::int64_t by_a, std::int64_t by_b);

/// Steps from one element to the next of each dimension of a dense array, in elements; `order` has the dimensions,
/// slowest first, and is C order where it is left out.
Extents dense_strides(const Extents& shape, const std::vector<int>& order);
Extents dense_strides(const Extents& shape);
/// Strides in bytes of strides in elements.
Extents in_bytes(Extents strides, std::int64_t element_bytes);

/// How many stretches a product of overlaps, one of each dimension, has that are contiguous in both local arrays, whose
/// dimensions lie in these orders, slowest first.
/// cost  O(dimensions^2).
std::int64_t runs_of_product(const std::vector<const Overlap*>& overlaps, const std::vector<int>& order_a,
                             const std::vector<int>& order_b);

}  // namespace plait::plan
