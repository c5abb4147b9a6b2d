// The normal form: equal layouts, however they were spelled, become the same value and the same text.
//
// Problem: 8 indices on 4 ranks are spelled `(block)`, `(cyclic(2))`, `(balanced)` or `(gen_block(2,2,2,2))`, and
// grids, sources and rank orders multiply that. Caches of plans and comparisons need one spelling per meaning, without
// comparing owners element by element.
//
// Idea: separate the pattern of a dimension from the names of its coordinates. The coordinates that own anything get
// labels 0, 1, ... by their first index. A Pattern says how labels alternate (UniformBlocks, BalancedBlocks,
// RoundRobin, ...), and the ranks of the labels are written as digits of the rank number: rank = base + sum of digit *
// stride.
//
// Example: `8x6 (block@1, block@0) onto (3, 2)`. Dimension 0 has 2 labels in blocks of 4, and dimension 1 has 3 labels
// in blocks of 2. Rank r has the grid position (r div 2, r mod 2); so dimension 0 has a digit of extent 2 and stride 1,
// and dimension 1 one of extent 3 and stride 2. Both distributions are `block`, and the larger stride belongs to the
// later dimension, which a grid in Fortran order expresses: `8x6 (block, block) onto (2, 3) ranks=F`.
//
// Ranks that are not sums of digits are listed individually. With more than kFewRanks ranks the digits are taken from
// the grid if possible, which costs O(axes) instead of O(ranks).

#include <algorithm>
#include <numeric>

#include "layout/normal/normal_dimension.hpp"
#include "layout/normal/normal_grid.hpp"
#include "layout/resolved_layout.hpp"

namespace plait {

namespace {

using layout::DigitGrid;
using layout::DimensionSpelling;
using layout::Labels;
using layout::Pattern;
using layout::RankTable;
using layout::ResolvedLayout;

/// Layouts with at most this many ranks are examined rank by rank. Equal layouts have the same number of ranks, so
/// the same method is used for both.
constexpr std::int64_t kFewRanks = 4096;

/// One dimension: its pattern without the names of its coordinates, and those names.
struct Dimension {
  Pattern pattern;
  Labels labels;
  DimensionSpelling spelling;
};

/// Returns the owner map of a plain distribution; nullptr for another one.
const layout::BlockOwnerMap* as_block_map(const layout::OwnerMap& owner_map) {
  return dynamic_cast<const layout::BlockOwnerMap*>(&owner_map);
}

/// The ranks of a layout: digits, or a list on a grid of all dimensions and copies.
struct Ranks {
  std::vector<layout::Digit> digits;
  Extents list;
};

/// Spells the dimensions and finds the digits of ranks from the grid axes, without examining each rank. Returns false
/// if that is impossible.
bool spell_by_axes(const ResolvedLayout& resolved, std::vector<Dimension>& dimensions, Ranks& ranks) {
  const std::optional<DigitGrid> grid = layout::axis_digits(resolved);
  if (!grid) return false;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (resolved.shape[d] == 0) continue;
    const layout::OwnerMap& owner_map = *resolved.owner_maps[d];
    const auto* blocks = as_block_map(owner_map);
    if (blocks != nullptr && blocks->kind() != Distribution::Kind::kGenBlock && owner_map.extent() > layout::kMaxGaps) {
      dimensions[d].spelling = spell(dimensions[d].pattern, owner_map.size(), owner_map.extent(), find_turn(*blocks));
      continue;
    }
    const std::vector<std::int64_t> labels = labelled_coordinates(owner_map);
    const auto spelling = spell_labels(dimensions[d].pattern, owner_map.size(), owner_map.extent(), labels);
    if (!spelling) return false;
    dimensions[d].spelling = *spelling;
  }
  ranks.digits = grid->digits;
  return true;
}

/// Spells the dimensions and finds the digits or the list of ranks by examining each rank.
void spell_by_ranks(const Layout& layout, const ResolvedLayout& resolved, std::vector<Dimension>& dimensions,
                    Ranks& ranks) {
  std::vector<Labels> labels;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const layout::OwnerMap& owner_map = *resolved.owner_maps[d];
    labels.push_back(owner_map.size() == 0 ? Labels{1, {0}}
                                           : Labels{owner_map.extent(), labelled_coordinates(owner_map)});
    dimensions[d].labels = labels.back();
  }
  const RankTable table(layout, resolved, std::move(labels));
  const auto extent_at = [&](std::size_t d) { return resolved.shape[d]; };
  std::optional<DigitGrid> grid = table.digits();
  for (std::size_t d = 0; grid && d < dimensions.size(); ++d) {
    if (extent_at(d) == 0) continue;
    Dimension& dimension = dimensions[d];
    std::optional<DimensionSpelling> spelling =
        spell_labels(dimension.pattern, extent_at(d), dimension.labels.extent, grid->labels[d]);
    if (!spelling) {
      const auto natural_digits = table.natural_digits(static_cast<int>(d));
      if (natural_digits) {
        std::erase_if(grid->digits, [&](const layout::Digit& digit) { return digit.dimension == static_cast<int>(d); });
        grid->digits.insert(grid->digits.end(), natural_digits->begin(), natural_digits->end());
        spelling = spell(dimension.pattern, extent_at(d), dimension.labels.extent, layout::Turn{});
      }
    }
    if (spelling) {
      dimension.spelling = *spelling;
    } else {
      grid.reset();
    }
  }
  if (grid) {
    std::sort(grid->digits.begin(), grid->digits.end(),
              [](const layout::Digit& a, const layout::Digit& b) { return a.stride > b.stride; });
    ranks.digits = grid->digits;
    if (grid->base != 0) {
      ranks.list.resize(static_cast<std::size_t>(layout.size()));
      std::iota(ranks.list.begin(), ranks.list.end(), grid->base);
    }
    return;
  }
  std::int64_t stride = table.copies();
  if (stride > 1) ranks.digits.push_back({-1, 1, stride, 1});
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    Dimension& dimension = dimensions[d];
    if (extent_at(d) == 0) continue;
    std::vector<std::int64_t> natural_labels(dimension.labels.coordinates.size());
    std::iota(natural_labels.begin(), natural_labels.end(), 0);
    dimension.spelling = *spell_labels(dimension.pattern, extent_at(d), dimension.labels.extent, natural_labels);
    if (dimension.labels.extent > 1) ranks.digits.push_back({static_cast<int>(d), 1, dimension.labels.extent, stride});
    stride *= dimension.labels.extent;
  }
  std::reverse(ranks.digits.begin(), ranks.digits.end());
  ranks.list = table.list_ranks();
}

/// Returns the canonical local order: only dimensions in which some local array has more than one position matter; the
/// others come first.
std::vector<int> normal_order(const Layout& layout) {
  std::vector<int> ascending(static_cast<std::size_t>(layout.dimensions()));
  std::iota(ascending.begin(), ascending.end(), 0);
  std::vector<int> extended;
  for (const int d : layout.order()) {
    const std::int64_t max_positions = layout.longest_local(d) + layout.halo(d).lo + layout.halo(d).hi;
    if (max_positions == 0) return ascending;
    if (max_positions > 1) extended.push_back(d);
  }
  if (std::is_sorted(extended.begin(), extended.end())) return ascending;
  if (std::is_sorted(extended.rbegin(), extended.rend())) return {ascending.rbegin(), ascending.rend()};
  std::vector<int> result;
  for (const int d : ascending)
    if (std::find(extended.begin(), extended.end(), d) == extended.end()) result.push_back(d);
  result.insert(result.end(), extended.begin(), extended.end());
  return result;
}

/// Makes the layout from its parts. Axes are in descending order of the digits, unless the order of the dimensions is
/// equivalent.
Layout assemble(const Layout& layout, const std::vector<Dimension>& dimensions, const Ranks& ranks) {
  const std::size_t count = dimensions.size();
  std::vector<Distribution> distributions(count);
  LayoutOptions options;
  options.source.assign(count, 0);
  options.offset.assign(count, 0);
  std::vector<std::vector<std::pair<std::int64_t, int>>> axes(count);  // (weight, axis)
  Extents grid;
  std::vector<int> distributed;
  for (const layout::Digit& digit : ranks.digits) {
    const auto axis = static_cast<int>(grid.size());
    grid.push_back(digit.extent);
    if (digit.dimension < 0) {
      options.replicate.push_back(axis);
      continue;
    }
    axes[static_cast<std::size_t>(digit.dimension)].emplace_back(digit.weight, axis);
    distributed.push_back(digit.dimension);
  }
  for (std::size_t d = 0; d < count; ++d) {
    if (axes[d].empty()) continue;
    const DimensionSpelling& spelling = dimensions[d].spelling;
    distributions[d] = spelling.distribution;
    options.source[d] = spelling.turn.source;
    options.offset[d] = spelling.offset;
    if (spelling.turn.reverse) options.reverse.push_back(static_cast<int>(d));
    std::sort(axes[d].rbegin(), axes[d].rend());
  }
  const bool ascending =
      std::adjacent_find(distributed.begin(), distributed.end(), std::greater_equal<>()) == distributed.end();
  const bool descending =
      std::adjacent_find(distributed.begin(), distributed.end(), std::less_equal<>()) == distributed.end();
  Order order = Order::kC;
  if (!ascending && descending && options.replicate.empty() && ranks.list.empty()) {
    std::reverse(grid.begin(), grid.end());
    order = Order::kFortran;
  } else if (!ascending) {
    for (std::size_t d = 0; d < count; ++d)
      for (const auto& [weight, axis] : axes[d]) distributions[d].axes.push_back(axis);
  }
  const auto all_zero = [](const Extents& values) {
    return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value == 0; });
  };
  if (all_zero(options.source)) options.source.clear();
  if (all_zero(options.offset)) options.offset.clear();
  options.rank_list = ranks.list;
  const std::vector<int> local = normal_order(layout);
  Order local_order = Order::kC;
  if (local == layout::dimensions_in(Order::kFortran, layout.dimensions()) && local.size() > 1) {
    local_order = Order::kFortran;
  } else if (!std::is_sorted(local.begin(), local.end())) {
    options.order = local;
  }
  if (layout.has_halo())
    for (int d = 0; d < layout.dimensions(); ++d) {
      options.halo.push_back(layout.halo(d));
      if (layout.periodic(d) && layout.halo(d) != Halo{}) options.periodic.push_back(d);
    }
  return Layout(layout.shape(), std::move(distributions), std::move(grid), order, local_order, std::move(options));
}

/// Returns true if a dimension is too irregular for a pattern and thus for a canonical text.
bool is_irregular(const Layout& layout) {
  for (int d = 0; d < layout.dimensions(); ++d)
    if (layout.shape()[static_cast<std::size_t>(d)] > 0 && !find_pattern(layout::get_owner_map(layout, d))) return true;
  return false;
}

/// Compares layouts rank by rank, for layouts without a canonical text.
bool have_same_sets(const Layout& a, const Layout& b) {
  for (const std::int64_t rank : a.rank_numbers()) {
    if (!b.has_rank(rank)) return false;
    const std::vector<IndexSet> sets_a = a.index_sets(rank);
    const std::vector<IndexSet> sets_b = b.index_sets(rank);
    for (std::size_t d = 0; d < sets_a.size(); ++d)
      if (!sets_a[d].same_members(sets_b[d])) return false;
  }
  return true;
}

}  // namespace

Layout Layout::normal_form() const {
  std::vector<Dimension> dimensions(shape().size());
  bool all_plain = true;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (shape()[d] == 0) continue;
    const layout::OwnerMap& map = *resolved_->owner_maps[d];
    const std::optional<Pattern> pattern = find_pattern(map);
    if (!pattern) return *this;
    dimensions[d].pattern = *pattern;
    all_plain = all_plain && as_block_map(map) != nullptr;
  }
  Ranks ranks;
  const bool is_spelled = all_plain && size() > kFewRanks && spell_by_axes(*resolved_, dimensions, ranks);
  if (!is_spelled) spell_by_ranks(*this, *resolved_, dimensions, ranks);
  return assemble(*this, dimensions, ranks);
}

bool Layout::operator==(const Layout& other) const {
  if (shape() != other.shape() || size() != other.size()) return false;
  if (spelled_like(other)) return true;
  const Layout a = normal_form();
  const Layout b = other.normal_form();
  if (a.spelled_like(b)) return true;
  if (!is_irregular(a) || !is_irregular(b)) return false;
  const auto halos = [](const Layout& layout) {
    std::vector<std::tuple<std::int64_t, std::int64_t, bool>> result;
    for (int d = 0; d < layout.dimensions(); ++d)
      result.emplace_back(layout.halo(d).lo, layout.halo(d).hi, layout.halo(d) != Halo{} && layout.periodic(d));
    return result;
  };
  return normal_order(a) == normal_order(b) && halos(a) == halos(b) && have_same_sets(a, b);
}

std::string hashed_text(const Layout& layout) {
  if (!is_irregular(layout)) return to_string(layout);
  return shape_to_string(layout.shape()) + " on " + std::to_string(layout.size());
}

}  // namespace plait
