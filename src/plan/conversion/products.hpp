/// The elements that one rank of a conversion sends to another one, as products of pieces.
#pragma once

#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// One list of pieces for each dimension; the product's elements are all combinations.  In the pieces, `a` is a
/// position in the sender's local array and `b` one in the receiver's.  Both count in the padded array, including the
/// halo.
using Product = std::vector<Pieces>;

/// Returns the elements that `sender` has in the source layout and `receiver` needs in the target layout: one product,
/// or several if the receiver's halo is filled and wraps around.  The caller decides whether the receiver takes them
/// from this sender or from another one that holds a copy.
/// cost    O(pieces), independent of the number of elements.
std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool fill_halo = false);

}  // namespace plait::plan
