// The normal form: equal layouts, however they were spelled, become the same value and the same text.

#include <algorithm>
#include <sstream>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plait/layout.hpp"

namespace plait {

namespace {

using Kind = Distribution::Kind;

/// Whether coordinate c has the indices [c*block, (c+1)*block) for all c, where `sizes` are those of consecutive
/// blocks.
bool equal_blocks(const Extents& sizes, std::int64_t total, std::int64_t block) {
  std::int64_t left = total;
  for (const std::int64_t size : sizes) {
    if (size != std::min(left, block)) return false;
    left -= size;
  }
  return true;
}

bool balanced_blocks(const Extents& sizes, std::int64_t total) {
  const auto extent = static_cast<std::int64_t>(sizes.size());
  for (std::int64_t c = 0; c < extent; ++c)
    if (sizes[static_cast<std::size_t>(c)] != total / extent + (c < total % extent ? 1 : 0)) return false;
  return true;
}

/// The preferred spelling of a dealt dimension; the first of block, balanced, block(m), gen_block, cyclic(k) that says
/// it.
Distribution preferred(const Distribution& given, std::int64_t size, std::int64_t extent) {
  const std::int64_t ceiling = std::max<std::int64_t>(base::ceil_divide(size, extent), 1);
  if (size == 0) return Distribution::block_of();
  switch (given.kind) {
    case Kind::kCyclic:
      if (extent <= (size - 1) / given.block) return given;
      [[fallthrough]];  // no coordinate gets a second block
    case Kind::kBlock: {
      const std::int64_t block = std::min(given.block == 0 ? ceiling : given.block, size);
      if (block == ceiling) return Distribution::block_of();
      // block(m) is also balanced where the one shorter block is the last: m = ceil, which is `block` already.
      return Distribution::block_of(block);
    }
    case Kind::kBalanced:
      // Equal to `block` where all are equally large, all have at most one index, or only the last is short.
      if (size % extent == 0 || size <= extent || size % extent == extent - 1) return Distribution::block_of();
      return given;
    case Kind::kGenBlock: {
      if (equal_blocks(given.sizes, size, ceiling)) return Distribution::block_of();
      if (balanced_blocks(given.sizes, size)) return Distribution::balanced();
      const std::int64_t block = given.sizes.front();
      if (block > 0 && equal_blocks(given.sizes, size, block)) return Distribution::block_of(block);
      return given;
    }
    case Kind::kCollapsed: break;
  }
  return given;
}

/// Dimensions of no index tell ranks apart by nothing: of a row of them between two other dealt dimensions only the
/// product of the grid extents can be seen, which becomes the extent of the first one.  With at most one other dealt
/// dimension the same ranks can often be counted both ways; then they are counted in C order.
void merge_empty_dimensions(const Extents& shape, Extents& extents, Order& ranks) {
  struct Gap {
    std::int64_t product = 1;
    std::size_t first_empty = 0;
    bool has_empty = false;
  };
  std::vector<Gap> gaps(1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) {
      Gap& gap = gaps.back();
      if (!gap.has_empty) gap.first_empty = d;
      gap.has_empty = true;
      gap.product *= extents[d];
      extents[d] = 1;
    } else if (extents[d] > 1) {
      gaps.emplace_back();
    }
  }
  if (gaps.size() <= 2 && ranks == Order::kFortran) {
    Gap& front = gaps.front();
    Gap& back = gaps.back();
    if ((back.product == 1 || front.has_empty) && (front.product == 1 || back.has_empty)) {
      std::swap(front.product, back.product);
      ranks = Order::kC;
    }
  }
  for (const Gap& gap : gaps)
    if (gap.has_empty) extents[gap.first_empty] = gap.product;
}

}  // namespace

Layout Layout::normal_form() const {
  Extents extents;
  for (const Dimension& dimension : per_dimension_) extents.push_back(dimension.extent);
  Order ranks = ranks_;
  if (elements_ == 0) merge_empty_dimensions(shape_, extents, ranks);
  std::vector<Distribution> distributions;
  Extents grid;
  int long_dimensions = 0;  // of more than one index on some rank
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (extents[d] == 1) {
      distributions.push_back(Distribution::collapsed());
    } else {
      distributions.push_back(preferred(distributions_[d], shape_[d], extents[d]));
      grid.push_back(extents[d]);
    }
    std::int64_t longest = 0;
    const auto& sizes = distributions_[d].sizes;
    if (distributions_[d].kind == Kind::kGenBlock) {
      longest = *std::max_element(sizes.begin(), sizes.end());
    } else {
      longest = index_set(static_cast<int>(d), 0).size();  // coordinate 0 is never smaller than another
    }
    if (longest > 1) ++long_dimensions;
  }
  if (grid.size() <= 1) ranks = Order::kC;
  const Order order = long_dimensions <= 1 || elements_ == 0 ? Order::kC : order_;
  return Layout(shape_, std::move(distributions), std::move(grid), ranks, order);
}

bool Layout::operator==(const Layout& other) const {
  if (shape_ != other.shape_ || size_ != other.size_) return false;
  const Layout a = normal_form();
  const Layout b = other.normal_form();
  return a.distributions_ == b.distributions_ && a.grid_ == b.grid_ && a.ranks_ == b.ranks_ && a.order_ == b.order_;
}

std::string shape_to_string(const Extents& shape) {
  if (shape.empty()) return "scalar";
  std::ostringstream out;
  for (std::size_t d = 0; d < shape.size(); ++d) out << (d == 0 ? "" : "x") << shape[d];
  return out.str();
}

std::string to_string(const Layout& layout) {
  const Layout normal = layout.normal_form();
  std::ostringstream out;
  out << shape_to_string(normal.shape()) << " (";
  for (std::size_t d = 0; d < normal.distributions().size(); ++d)
    out << (d == 0 ? "" : ", ") << to_string(normal.distributions()[d]);
  out << ')';
  if (!normal.grid().empty()) out << " onto " << base::tuple_text(normal.grid());
  if (normal.ranks() == Order::kFortran) out << " ranks=F";
  if (normal.order() == Order::kFortran) out << " order=F";
  return out.str();
}

}  // namespace plait
