#include "layout/section.hpp"

#include <utility>

namespace plait::layout {

Layout section(const Layout& whole, const Extents& origin, const Extents& shape) {
  LayoutOptions options = whole.options();
  options.order = whole.order();
  options.halo.clear();
  options.periodic.clear();
  if (options.align.empty()) {
    const std::size_t dimensions = shape.size();
    options.template_shape = whole.shape();
    for (std::size_t d = 0; d < dimensions; ++d) {
      Alignment alignment;
      alignment.dimension = static_cast<int>(d);
      // What is not distributed has no offset.
      const bool distributed = whole.distributions()[d].kind != Distribution::Kind::kCollapsed;
      if (distributed && !options.offset.empty()) alignment.offset = options.offset[d];
      options.template_shape[d] += alignment.offset;
      options.align.push_back(alignment);
    }
    options.offset.clear();
  }
  for (Alignment& alignment : options.align)
    if (alignment.kind == Alignment::Kind::kDimension)
      alignment.offset += alignment.scale * origin[static_cast<std::size_t>(alignment.dimension)];
  return Layout(shape, whole.distributions(), whole.grid(), whole.ranks(), Order::kC, std::move(options));
}

}  // namespace plait::layout
