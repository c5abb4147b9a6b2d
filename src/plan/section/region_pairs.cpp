// Messages from an array to an array that holds a region of it.
//
// Indices of the target's array count within the region: index i of a dimension is index start + i * stride of the
// source. So the target's index sets are mapped into the source (in_source), and one intersection in each dimension
// gives the common elements. A dimension in which the region selects a single index is missing in the target; its index
// set there is {0}.
//
// Example: the region [2:12:3] of 20 indices selects 2, 5, 8 and 11. A rank of the target that owns {1, 3} receives the
// source's indices 5 and 11, from the ranks that own these.

#include "plan/section/region_pairs.hpp"

#include <utility>

#include "layout/section.hpp"
#include "plait/conversion.hpp"
#include "plan/conversion/message_ranks.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/conversion/spans.hpp"
#include "plan/section/section.hpp"

namespace plait::plan {

RegionPairs::RegionPairs(Layout source, Layout target, const Region& region, bool fill_halo)
    : source_(std::move(source)), target_(std::move(target)), fill_halo_(fill_halo), region_(region) {
  const Section section(source_.shape(), Order::kC, region);
  section.check_layout(target_);
  target_dimension_ = section.layout_dimension;
  for (std::size_t d = region_.size(); d < source_.shape().size(); ++d)
    region_.push_back({0, source_.shape()[d], 1, false});
  for (Slice& slice : region_)
    if (slice.count <= 1) slice.stride = 1;
  from_ = region.empty() || section.elements == 0 ? source_ : layout::section(source_, region_);
}

std::vector<std::int64_t> RegionPairs::senders(std::int64_t receiver) const {
  if (!target_.has_rank(receiver) || target_.elements() == 0) return {};
  return message_ranks(Conversion(from_, target_, fill_halo_).receives(receiver));
}

IndexSet RegionPairs::in_source(std::size_t dimension, const IndexSet& of_target) const {
  const Slice& slice = region_[dimension];
  if (slice.stride == 1) return slice.start == 0 ? of_target : of_target.translate(slice.start);
  const std::int64_t last = slice.start + (slice.count - 1) * slice.stride;
  return nest(IndexSet::blocks(slice.start, 1, slice.stride, last + 1), of_target);
}

std::vector<Product> RegionPairs::products(std::int64_t sender, std::int64_t receiver) const {
  std::vector<Product> result;
  if (target_.elements() == 0) return result;
  for (const RankElements& from : holdings(source_, sender, false)) {
    for (const RankElements& to : holdings(target_, receiver, fill_halo_)) {
      Product product;
      for (std::size_t d = 0; d < from.sets.size(); ++d) {
        const int t = target_dimension_[d];
        const IndexSet target_set = t < 0 ? IndexSet::range(0, 1) : to.sets[static_cast<std::size_t>(t)];
        product.push_back(intersect(from.sets[d], in_source(d, target_set)));
        if (product.back().empty()) break;
        shift(product.back(), from.positions[d], t < 0 ? 0 : to.positions[static_cast<std::size_t>(t)]);
      }
      if (product.size() == from.sets.size() && (product.empty() || !product.back().empty()))
        result.push_back(std::move(product));
    }
  }
  return result;
}

std::vector<std::size_t> RegionPairs::target_order() const {
  std::vector<std::size_t> order;
  std::vector<std::size_t> source_dimension(target_.shape().size());
  for (std::size_t d = 0; d < target_dimension_.size(); ++d) {
    if (target_dimension_[d] < 0) {
      order.push_back(d);
    } else {
      source_dimension[static_cast<std::size_t>(target_dimension_[d])] = d;
    }
  }
  for (const int t : target_.order()) order.push_back(source_dimension[static_cast<std::size_t>(t)]);
  return order;
}

Extents RegionPairs::with_dropped(const Extents& of_target, std::int64_t dropped) const {
  Extents result;
  for (const int t : target_dimension_) result.push_back(t < 0 ? dropped : of_target[static_cast<std::size_t>(t)]);
  return result;
}

}  // namespace plait::plan
