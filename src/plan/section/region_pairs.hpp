/// Who sends what to whom when a region of an array, of any steps, goes into an array of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/conversion/products.hpp"

namespace plait::plan {

/// A value; both programs that know the layouts and the region come to the same.
class RegionPairs {
 public:
  /// source: of the whole array; target: of the region, without the dimensions of which it takes a single index.
  /// region: empty for the whole array.
  /// errors  kArgument, as for an access to a file: a region that does not fit the array, a layout of another shape.
  RegionPairs(Layout source, Layout target, const Region& region, bool fill_halo);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  /// Ranks of the source that have something for a rank of the target, ascending.
  /// cost  As Conversion::receives().
  std::vector<std::int64_t> senders_of(std::int64_t receiver) const;
  /// What `sender` has and `receiver` wants.  Products have the dimensions of the source; of one that the region drops
  /// the position in the target is 0.  cost  O(pieces of one period).
  std::vector<Product> products(std::int64_t sender, std::int64_t receiver) const;

  /// The target's local arrays with the dimensions of the source: the order of these, slowest first, and what has an
  /// entry for each dimension of the target, with `dropped` for each that it has not.
  std::vector<std::size_t> target_order() const;
  Extents with_dropped(const Extents& of_target, std::int64_t dropped) const;

 private:
  IndexSet in_source(std::size_t dimension, const IndexSet& of_target) const;

  Layout source_;
  Layout target_;
  bool fill_halo_;
  Region region_;                      // one slice for each dimension of the source; those of one index have the step 1
  std::vector<int> target_dimension_;  // of each dimension of the source; -1: none
  Layout from_;                        // the region as an array of its own, as the source has it
};

}  // namespace plait::plan
