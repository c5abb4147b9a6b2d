/// The messages that move a region of an array, with any strides, into a separate array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/conversion/products.hpp"

namespace plait::plan {

/// The messages from the ranks of an array to the ranks of a separate array that holds a region of it.  Deterministic:
/// all processes that know the layouts and the region compute the same result.
class RegionPairs {
 public:
  /// source: The layout of the whole array.
  /// target: The layout of the region.  Dimensions selected by a single index are dropped.
  /// region: Empty for the whole array.
  /// errors  kArgument, as for an access to a file: a region that does not fit the array, a layout of another shape.
  RegionPairs(Layout source, Layout target, const Region& region, bool fill_halo);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  /// Returns the ranks of the source that have elements for a rank of the target, ascending.
  /// cost    As Conversion::receives().
  std::vector<std::int64_t> senders(std::int64_t receiver) const;
  /// Returns the elements that `sender` has and `receiver` needs.  Products have the dimensions of the source.  In a
  /// dimension that the region drops, the position in the target is 0.  cost  O(pieces of one period).
  std::vector<Product> products(std::int64_t sender, std::int64_t receiver) const;

  /// Returns the dimensions of the source in the order of the target's local arrays, slowest first.
  std::vector<std::size_t> target_order() const;
  /// Returns a list with an entry for each dimension of the source: those of the target, and `dropped` for the others.
  Extents with_dropped(const Extents& of_target, std::int64_t dropped) const;

 private:
  /// Converts indices of the target into indices of the source.
  IndexSet in_source(std::size_t dimension, const IndexSet& of_target) const;

  Layout source_;
  Layout target_;
  bool fill_halo_;
  Region region_;                      // a slice for each source dimension; the stride is 1 for one index
  std::vector<int> target_dimension_;  // target dimension of each source dimension; -1: none
  Layout from_;                        // the source's layout, restricted to the region
};

}  // namespace plait::plan
