/// The partners of an index set in a layout, and their common elements: one dimension of a conversion.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// Returns the coordinates of `dimension` of `layout` that can own an index of `set`, ascending: all that do, and
/// possibly some that would if the dimension were longer.
/// cost    O(coordinates found), or O(runs of the set) if that is less; never a scan of all indices.
std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension);

/// The common indices of two local arrays `a` and `b` in one dimension, as far as they determine a message's numbers of
/// elements and runs.
struct Overlap {
  std::int64_t elements = 0;
  std::int64_t runs = 0;
  std::int64_t extent_a = 0;  ///< extent of the local array in this dimension, including the halo
  std::int64_t extent_b = 0;
  bool at_both_ends = false;  ///< contains the first index of both local arrays, and the last index of both
};

/// Returns the overlap of two local arrays of these extents, from their common pieces.  cost  O(pieces).
Overlap make_overlap(const Pieces& pieces, std::int64_t extent_a, std::int64_t extent_b);

/// One coordinate of the other side with its overlaps: one entry for each pair of spans that have a common index.
struct Partner {
  std::int64_t coordinate = 0;
  std::vector<Overlap> overlaps;
};

/// Returns the partners of one rank of `mine` in `other`, for each dimension.  In the overlaps, `a` is the local array
/// of `mine` and `b` the local array of `other`, including halos.  `fill_mine` and `fill_other` state whose halos are
/// filled in the local arrays.
std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other,
                                                        bool fill_mine = false, bool fill_other = false);

/// Moves the positions of all pieces.
void shift(Pieces& pieces, std::int64_t by_a, std::int64_t by_b);

/// Returns the strides of a dense array in elements, one for each dimension.  `order` lists the dimensions, slowest
/// first; without it the array is in C order.
Extents dense_strides(const Extents& shape, const std::vector<int>& order);
Extents dense_strides(const Extents& shape);
/// Converts strides in elements into strides in bytes.
Extents in_bytes(Extents strides, std::int64_t element_bytes);

/// Returns the number of stretches of a product of overlaps, one of each dimension, that are contiguous in both local
/// arrays.  The orders list the dimensions of each array, slowest first.
/// cost    O(dimensions^2).
std::int64_t count_product_runs(const std::vector<const Overlap*>& overlaps, const std::vector<int>& order_a,
                                const std::vector<int>& order_b);

}  // namespace plait::plan
