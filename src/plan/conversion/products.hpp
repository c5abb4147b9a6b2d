/// The elements that one rank of a conversion sends to another one.  In each dimension they are a list of pieces
/// (pieces.hpp): stretches of indices that both ranks hold and that repeat at constant distances.  The elements of the
/// message are all combinations of these indices.
#pragma once

#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

/// One list of pieces for each dimension.  In the pieces, `a` is a position in the sender's local array and `b` a
/// position in the receiver's.  Positions count the halo, which precedes the rank's own indices in the local array.
using Product = std::vector<Pieces>;

/// Returns the elements that `sender` has in the source layout and `receiver` needs in the target layout: one product,
/// or several if the receiver's halo is filled and wraps around a periodic dimension.  If several senders hold copies
/// of the elements, the caller decides which of them sends.
/// cost    O(pieces), independent of the number of elements.
std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool fill_halo = false);

}  // namespace plait::plan
