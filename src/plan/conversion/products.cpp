#include "plan/conversion/products.hpp"

#include "plan/conversion/partners.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

std::vector<Product> products(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                              bool fill_halo) {
  std::vector<Product> result;
  for (const RankElements& from : holdings(source, sender, false)) {
    for (const RankElements& to : holdings(target, receiver, fill_halo)) {
      Product product;
      for (std::size_t d = 0; d < from.sets.size(); ++d) {
        product.push_back(intersect(from.sets[d], to.sets[d]));
        if (product.back().empty()) break;
        shift(product.back(), from.positions[d], to.positions[d]);
      }
      if (product.size() == from.sets.size() && (product.empty() || !product.back().empty()))
        result.push_back(std::move(product));
    }
  }
  return result;
}

}  // namespace plait::plan
