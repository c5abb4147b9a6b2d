// The elements of a message: in each dimension, the common indices of the two ranks' index sets.
//
// Example: rank 1 of `4x6 (block, *) onto (2)` owns rows 2-3, and rank 0 of `4x6 (*, block) onto (2)` owns columns 0-2.
// The product has one piece for each dimension: 2 rows from a = 0 and b = 2 on, and 3 columns from a = 0 and b = 0 on.

#include "plan/conversion/products.hpp"

#include "plan/conversion/partners.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool fill_halo) {
  std::vector<Product> result;
  for (const RankElements& from : holdings(source, sender, /*fill_halo=*/false)) {
    for (const RankElements& to : holdings(target, receiver, fill_halo)) {
      Product product;
      for (std::size_t d = 0; d < from.sets.size(); ++d) {
        product.push_back(intersect(from.sets[d], to.sets[d]));
        if (product.back().empty()) break;
        shift(product.back(), from.positions[d], to.positions[d]);
      }
      // The loop above stops early if the two have no common index in a dimension.
      if (product.size() == from.sets.size() && (product.empty() || !product.back().empty()))
        result.push_back(std::move(product));
    }
  }
  return result;
}

}  // namespace plait::plan
