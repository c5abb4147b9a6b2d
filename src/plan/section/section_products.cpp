// Messages of a redistribution between sections of two arrays.
//
// layout::section() turns the section into a separate array on both sides, so that its messages are those of a
// conversion. Their pieces count positions from the section's first element in a local array. positions_before()
// returns the distance of that element from the beginning of the whole local array, which is added in each dimension.
//
// Example: the section from index 5 on of 10 indices, block onto 3 (0-3, 4-7, 8-9), halo 1:1. Rank 1 owns one index
// before it, so the section begins at position 1 + 1 = 2 of its padded local array.

#include "plan/section/section_products.hpp"

#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "layout/section.hpp"
#include "plait/conversion.hpp"
#include "plan/conversion/message_ranks.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::plan {

namespace {

/// Throws unless the section is inside the array.
void check(const Layout& layout, const Extents& origin, const Extents& shape, const char* what) {
  const auto fail = [&] {
    base::throw_argument_error("the ", what, " region of ", shape_to_string(shape), " elements from ",
                               base::tuple_text(origin), " does not lie in ", to_string(layout));
  };
  if (origin.size() != layout.shape().size() || shape.size() != origin.size()) fail();
  for (std::size_t d = 0; d < origin.size(); ++d)
    if (origin[d] < 0 || shape[d] < 0 || shape[d] > layout.shape()[d] - origin[d]) fail();
}

/// Returns the position of the section's first element in a rank's local array: after the halo and the rank's elements
/// that precede the section.
Extents positions_before(const Layout& layout, std::int64_t rank, const Extents& origin) {
  const std::vector<IndexSet> sets = layout.index_sets(rank);
  Extents result;
  for (std::size_t d = 0; d < sets.size(); ++d)
    result.push_back(layout.halo(static_cast<int>(d)).lo + sets[d].count_below(origin[d]));
  return result;
}

}  // namespace

Pairs::Pairs(Layout source, Layout target, bool fill_halo, SectionPair section)
    : source_(std::move(source)), target_(std::move(target)), fill_halo_(fill_halo), section_(std::move(section)) {
  if (section_.whole()) {
    const Conversion same_shape(source_, target_);  // throws if the shapes differ
    section_.shape = source_.shape();
    return;
  }
  if (fill_halo_)
    base::throw_argument_error("halos are filled for whole arrays only; leave out the regions or fill_halo");
  check(source_, section_.source_origin, section_.shape, "source");
  check(target_, section_.target_origin, section_.shape, "target");
  from_ = layout::section(source_, section_.source_origin, section_.shape);
  to_ = layout::section(target_, section_.target_origin, section_.shape);
}

std::int64_t Pairs::elements() const { return base::checked_product(section_.shape, "number of elements"); }

std::vector<std::int64_t> Pairs::receivers(std::int64_t sender) const {
  if (!source_.has_rank(sender) || elements() == 0) return {};
  if (section_.whole()) return message_ranks(Conversion(source_, target_, fill_halo_).sends(sender));
  return message_ranks(Conversion(from_, to_).sends(sender));
}

std::vector<std::int64_t> Pairs::senders(std::int64_t receiver) const {
  if (!target_.has_rank(receiver) || elements() == 0) return {};
  if (section_.whole()) return message_ranks(Conversion(source_, target_, fill_halo_).receives(receiver));
  return message_ranks(Conversion(from_, to_).receives(receiver));
}

std::vector<Product> Pairs::products(std::int64_t sender, std::int64_t receiver) const {
  if (section_.whole()) return plan::products(source_, sender, target_, receiver, fill_halo_);
  const Extents before_a = positions_before(source_, sender, section_.source_origin);
  const Extents before_b = positions_before(target_, receiver, section_.target_origin);
  std::vector<Product> result = plan::products(from_, sender, to_, receiver);
  for (Product& product : result)
    for (std::size_t d = 0; d < product.size(); ++d) shift(product[d], before_a[d], before_b[d]);
  return result;
}

}  // namespace plait::plan
