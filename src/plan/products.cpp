#include "plan/products.hpp"

namespace plait::plan {

std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool /*fill_halo*/) {
  const std::vector<IndexSet> from = source.index_sets(sender);
  const std::vector<IndexSet> to = target.index_sets(receiver);
  Product product;
  for (std::size_t d = 0; d < from.size(); ++d) {
    product.push_back(intersect(from[d], to[d]));
    if (product.back().empty() && !from.empty()) return {};
  }
  return {product};
}

}  // namespace plait::plan
