/// What one rank of a conversion sends to another one, as products of pieces.
#pragma once

#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// One list of pieces for each dimension; its elements are all combinations.  In the pieces, `a` is a position in the
/// sender's local array and `b` one in the receiver's, both counted in the padded array, halo included.
using Product = std::vector<Pieces>;

/// The elements that `sender` has in the source layout and `receiver` wants in the target layout: one product, or
/// several where the receiver's halo is filled and wraps around.  Whether the receiver takes them from this sender or
/// from another one that holds a copy is for the caller to ask.
/// cost    O(pieces), independent of the number of elements.
std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool fill_halo = false);

}  // namespace plait::plan
