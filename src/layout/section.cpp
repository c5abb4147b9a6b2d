// Makes the layout of a part of an array.
//
// A section is an array that is aligned with the whole one: its index i is index start + stride * i. Example: 8
// elements `(block) onto (2)`, the section of 4 elements from index 3 on. It has the template 8 and the alignment
// d0+3, so that rank 0 owns its index 0 (element 3) and rank 1 its indices 1 to 3.

#include "layout/section.hpp"

#include <utility>
#include <vector>

namespace plait::layout {

namespace {

/// Converts the offsets of a layout to an alignment with a template, if it has none yet.
void add_alignment(LayoutOptions& options, const Layout& whole) {
  if (!options.align.empty()) return;
  options.template_shape = whole.shape();
  for (std::size_t d = 0; d < whole.shape().size(); ++d) {
    Alignment alignment;
    alignment.dimension = static_cast<int>(d);
    // Dimensions that are not distributed have no offset.
    const bool distributed = whole.distributions()[d].kind != Distribution::Kind::kCollapsed;
    if (distributed && !options.offset.empty()) alignment.offset = options.offset[d];
    options.template_shape[d] += alignment.offset;
    options.align.push_back(alignment);
  }
  options.offset.clear();
}

}  // namespace

Layout section(const Layout& whole, const Region& region) {
  LayoutOptions options = whole.options();
  options.halo.clear();
  options.periodic.clear();
  add_alignment(options, whole);
  Extents shape;
  // The dimension of the section that each dimension of the whole array becomes; -1 if it is omitted.
  std::vector<int> new_dimension(region.size(), -1);
  for (std::size_t d = 0; d < region.size(); ++d) {
    if (region[d].single) continue;
    new_dimension[d] = static_cast<int>(shape.size());
    shape.push_back(region[d].count);
  }
  for (Alignment& alignment : options.align) {
    if (alignment.kind != Alignment::Kind::kDimension) continue;
    const auto d = static_cast<std::size_t>(alignment.dimension);
    alignment.offset += alignment.scale * region[d].start;
    alignment.scale *= region[d].stride;
    if (new_dimension[d] < 0) alignment.kind = Alignment::Kind::kConstant;
    alignment.dimension = new_dimension[d] < 0 ? 0 : new_dimension[d];
  }
  options.order.clear();
  for (const int d : whole.order())
    if (new_dimension[static_cast<std::size_t>(d)] >= 0)
      options.order.push_back(new_dimension[static_cast<std::size_t>(d)]);
  return Layout(std::move(shape), whole.distributions(), whole.grid(), whole.ranks(), Order::kC, std::move(options));
}

Layout section(const Layout& whole, const Extents& origin, const Extents& shape) {
  Region region;
  for (std::size_t d = 0; d < shape.size(); ++d)
    region.push_back({origin[d], shape[d], /*stride=*/1, /*single=*/false});
  return section(whole, region);
}

}  // namespace plait::layout
