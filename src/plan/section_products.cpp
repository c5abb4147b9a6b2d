#include "plan/section_products.hpp"

#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plait/conversion.hpp"
#include "plait/error.hpp"

namespace plait::plan {

namespace {

/// The same members, each `by` lower.
IndexSet lowered(IndexSet set, std::int64_t by) {
  set.begin -= by;
  set.end -= by;
  set.origin -= by;
  return set;
}

/// Members of a section's part of a set, counted from the section's first index, and how many come before it.
struct Cut {
  IndexSet set;
  std::int64_t before = 0;
};

Cut cut(const IndexSet& set, std::int64_t lo, std::int64_t extent) {
  const IndexSet inside = set.clip(lo, lo + extent);
  if (inside.empty()) return {IndexSet::range(0, 0), 0};
  return {lowered(inside, lo), set.rank_of(inside.begin)};
}

void check(const Layout& layout, const Extents& origin, const Extents& shape, const char* what) {
  const auto refuse = [&] {
    throw Error(ErrorKind::kArgument, base::text("the ", what, " region of ", shape_to_string(shape), " elements from ",
                                                 base::tuple_text(origin), " does not lie in ", to_string(layout)));
  };
  if (origin.size() != layout.shape().size() || shape.size() != origin.size()) refuse();
  for (std::size_t d = 0; d < origin.size(); ++d)
    if (origin[d] < 0 || shape[d] < 0 || shape[d] > layout.shape()[d] - origin[d]) refuse();
}

/// Places of the halo in front of a rank's own elements; products() counts them as well.
Extents halo_before(const Layout& layout) { return Extents(layout.shape().size(), 0); }

bool overlap(const std::vector<Product>& products) { return !products.empty(); }

}  // namespace

std::vector<Product> section_products(const Layout& source, std::int64_t sender, const Layout& target,
                                      std::int64_t receiver, const SectionPair& section) {
  const std::vector<IndexSet> from = source.index_sets(sender);
  const std::vector<IndexSet> to = target.index_sets(receiver);
  const Extents from_halo = halo_before(source);
  const Extents to_halo = halo_before(target);
  Product product;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const Cut a = cut(from[d], section.source_origin[d], section.shape[d]);
    const Cut b = cut(to[d], section.target_origin[d], section.shape[d]);
    Pieces pieces = intersect(a.set, b.set);
    if (pieces.empty()) return {};
    for (Piece& piece : pieces) {
      piece.a += a.before + from_halo[d];
      piece.b += b.before + to_halo[d];
    }
    product.push_back(std::move(pieces));
  }
  return {product};
}

Pairs::Pairs(Layout source, Layout target, bool fill_halo, SectionPair section)
    : source_(std::move(source)), target_(std::move(target)), fill_halo_(fill_halo), section_(std::move(section)) {
  if (section_.whole()) {
    const Conversion same_shape(source_, target_);
    section_.shape = source_.shape();
    return;
  }
  check(source_, section_.source_origin, section_.shape, "source");
  check(target_, section_.target_origin, section_.shape, "target");
}

std::int64_t Pairs::elements() const { return base::checked_product(section_.shape, "number of elements"); }

std::vector<std::int64_t> Pairs::receivers_of(std::int64_t sender) const {
  std::vector<std::int64_t> result;
  if (!source_.has_rank(sender) || elements() == 0) return result;
  if (section_.whole()) {
    for (const Message& message : Conversion(source_, target_).sends(sender)) result.push_back(message.rank);
    return result;
  }
  for (std::int64_t rank = 0; rank < target_.ranks_end(); ++rank)
    if (target_.has_rank(rank) && overlap(products(sender, rank))) result.push_back(rank);
  return result;
}

std::vector<std::int64_t> Pairs::senders_of(std::int64_t receiver) const {
  std::vector<std::int64_t> result;
  if (!target_.has_rank(receiver) || elements() == 0) return result;
  if (section_.whole()) {
    for (const Message& message : Conversion(source_, target_).receives(receiver)) result.push_back(message.rank);
    return result;
  }
  for (std::int64_t rank = 0; rank < source_.ranks_end(); ++rank)
    if (source_.has_rank(rank) && overlap(products(rank, receiver))) result.push_back(rank);
  return result;
}

std::vector<Product> Pairs::products(std::int64_t sender, std::int64_t receiver) const {
  if (!section_.whole()) return section_products(source_, sender, target_, receiver, section_);
  return plan::products(source_, sender, target_, receiver, fill_halo_);
}

}  // namespace plait::plan
