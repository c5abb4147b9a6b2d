// Resolves the arguments of a layout: checks them, and makes the owner map of each dimension.
//
// The arguments leave much open: `(block, *, cyclic) onto (4, 2)` does not say which grid axis belongs to which
// dimension, and an aligned array has the distributions of its template. resolve() proceeds in this order:
//   1. Sizes and counts are checked, so that all arithmetic after this fits into 64 bits.
//   2. assign_axes() gives each distributed dimension its grid axes: in order, or those named by @. In the example axis
//      0 goes to dimension 0 and axis 1 to dimension 2. An axis that no dimension uses must hold copies.
//   3. Each dimension gets an owner map of its distribution and the extents of its axes. For an aligned array that is
//      the map of the template dimension, composed with scale*i + offset. Template dimensions with a constant pin their
//      axes to one coordinate, and those with copies replicate the array.
//   4. Only then are ranks numbered (RankMap), because pinned and copied axes change which ranks own anything.
//   5. Local order and halos are checked last; a halo is compared with the largest block of the owner map.

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "layout/resolved_layout.hpp"

namespace plait::layout {

using base::text;

namespace {

/// Converts an index for std::vector.
std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool is_distributed(const Distribution& distribution) { return distribution.kind != Distribution::Kind::kCollapsed; }

/// Converts a list of different numbers below `count` to flags. what, entity: the option and what it numbers, for
/// errors.
std::vector<bool> to_flags(const std::vector<int>& numbers, std::size_t count, const char* what, const char* entity) {
  std::vector<bool> result(count, false);
  for (const int number : numbers) {
    if (number < 0 || at(number) >= count)
      base::throw_argument_error(what, " names the ", entity, ' ', number, ", but there are ", count,
                                 ", counted from 0");
    if (result[at(number)]) base::throw_argument_error(what, " names the ", entity, ' ', number, " twice");
    result[at(number)] = true;
  }
  return result;
}

/// The grid axes of each level of a distribution, major first.
using AxesOfLevels = std::vector<std::vector<int>>;

/// Finds the axes of all distributions. Every axis is used exactly once or replicated.
std::vector<AxesOfLevels> assign_axes(const std::vector<Distribution>& distributions, const Extents& grid,
                                      const std::vector<bool>& replicated) {
  std::vector<AxesOfLevels> result(distributions.size());
  std::vector<const Distribution*> levels;
  std::vector<std::vector<int>*> targets;
  for (std::size_t d = 0; d < distributions.size(); ++d) {
    if (!is_distributed(distributions[d])) {
      if (!distributions[d].axes.empty() || !distributions[d].inner.empty())
        base::throw_argument_error("dimension ", d,
                                   ": * is not distributed, so it takes no grid axis and no inner distribution");
      continue;
    }
    result[d].resize(1 + distributions[d].inner.size());
    levels.push_back(&distributions[d]);
    targets.push_back(&result[d][0]);
    for (std::size_t i = 0; i < distributions[d].inner.size(); ++i) {
      const Distribution& inner = distributions[d].inner[i];
      if (!is_distributed(inner))
        base::throw_argument_error("dimension ", d, ": * cannot follow /; use a distribution such as block");
      levels.push_back(&inner);
      targets.push_back(&result[d][i + 1]);
    }
  }
  const auto named_count =
      std::count_if(levels.begin(), levels.end(), [](auto* level) { return !level->axes.empty(); });
  const std::int64_t unreplicated_axes = std::count(replicated.begin(), replicated.end(), false);
  if (named_count == 0) {
    if (unreplicated_axes != static_cast<std::int64_t>(levels.size()))
      base::throw_argument_error(
          "the grid ", base::tuple_text(grid), " has ", unreplicated_axes, unreplicated_axes == 1 ? " axis" : " axes",
          unreplicated_axes == static_cast<std::int64_t>(grid.size()) ? "" : " that are not replicated",
          ", but the number of distributed dimensions is ", levels.size(),
          "; give one grid extent for each dimension that is not *, and name the axes that hold copies, as in "
          "replicate=(1)");
    int axis = 0;
    for (std::vector<int>* target : targets) {
      while (replicated[at(axis)]) ++axis;
      target->push_back(axis++);
    }
    return result;
  }
  if (named_count != static_cast<std::int64_t>(levels.size()))
    base::throw_argument_error(
        "some distributions name their grid axes with @ and some do not; name those of all or of none");
  std::vector<bool> is_used(grid.size(), false);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (const int axis : levels[i]->axes) {
      if (axis < 0 || at(axis) >= grid.size())
        base::throw_argument_error(to_string(*levels[i]), " names the grid axis ", axis, ", but the grid ",
                                   base::tuple_text(grid), " has the axes 0 to ",
                                   static_cast<std::int64_t>(grid.size()) - 1);
      if (replicated[at(axis)])
        base::throw_argument_error("the grid axis ", axis,
                                   " is used by a distribution and by replicate; name it in only one of them");
      if (is_used[at(axis)]) base::throw_argument_error("the grid axis ", axis, " is named twice");
      is_used[at(axis)] = true;
    }
    *targets[i] = levels[i]->axes;
  }
  for (std::size_t axis = 0; axis < grid.size(); ++axis)
    if (!is_used[axis] && !replicated[axis])
      base::throw_argument_error("no distribution uses the grid axis ", axis,
                                 "; name it with @, or as one that holds copies with "
                                 "replicate=(",
                                 axis, ")");
  return result;
}

/// Returns the number of coordinates of each level of a distribution.
Extents level_extents(const AxesOfLevels& levels, const Extents& grid) {
  Extents result;
  for (const std::vector<int>& axes : levels) {
    std::int64_t product = 1;
    for (const int axis : axes) product *= grid[at(axis)];  // a factor of the number of ranks, which was checked
    result.push_back(product);
  }
  if (result.empty()) result.push_back(1);
  return result;
}

/// Returns one entry for each dimension. `entries` has one for each dimension or, if `distributed_only`, may have one
/// for each distributed dimension.
Extents expand_entries(const Extents& entries, const std::vector<Distribution>& distributions, const char* what,
                       bool distributed_only) {
  if (entries.empty()) return Extents(distributions.size(), 0);
  if (entries.size() == distributions.size()) return entries;
  const auto distributed_count = std::count_if(distributions.begin(), distributions.end(), is_distributed);
  if (!distributed_only || static_cast<std::int64_t>(entries.size()) != distributed_count)
    base::throw_argument_error(what, '=', base::tuple_text(entries), " has length ", entries.size(),
                               "; give one entry for each of the ", distributions.size(), " dimensions");
  Extents result(distributions.size(), 0);
  std::size_t next = 0;
  for (std::size_t d = 0; d < distributions.size(); ++d)
    if (is_distributed(distributions[d])) result[d] = entries[next++];
  return result;
}

/// An array dimension that is aligned with a template dimension.
struct AlignedDimension {
  std::int64_t size;
  const Alignment& alignment;
};

/// Makes the owner map of an array dimension from the distribution of the template dimension.
OwnerMapPtr make_aligned_map(const Distribution& distribution, const OwnerMapSize& template_sizes, Turn turn,
                             int dimension, const AlignedDimension& aligned) {
  const std::int64_t template_size = template_sizes.size;
  const Extents& extents = template_sizes.extents;
  const auto& [size, alignment] = aligned;
  const bool has_fixed_blocks = distribution.inner.empty() && (distribution.kind == Distribution::Kind::kBlock ||
                                                               distribution.kind == Distribution::Kind::kCyclic);
  // The end of the template does not matter for blocks of a fixed length.
  if (alignment.scale == 1 && has_fixed_blocks) {
    make_owner_map(distribution, {template_size, extents, 0}, turn, dimension);  // for its checks
    Distribution fixed = distribution;
    if (fixed.block == 0) fixed.block = std::max<std::int64_t>(base::ceil_divide(template_size, extents[0]), 1);
    return make_owner_map(fixed, {size, extents, alignment.offset}, turn, dimension);
  }
  OwnerMapPtr base = make_owner_map(distribution, {template_size, extents, 0}, turn, dimension);
  if (alignment.scale == 1 && alignment.offset == 0 && size == template_size) return base;
  return std::make_shared<AlignedOwnerMap>(std::move(base), size, alignment.scale, alignment.offset);
}

/// Checks that all indices of the array dimension are aligned with indices of the template dimension.
void check_inside(const Alignment& alignment, std::size_t d, std::int64_t size, std::int64_t extent) {
  const auto throw_outside = [&](std::int64_t index, const std::string& image) {
    base::throw_argument_error("alignment, template dimension ", d, ": index ", index, " of dimension ",
                               alignment.dimension, " lies at ", image, ", outside the template's 0 to ", extent - 1);
  };
  for (const std::int64_t index : {std::int64_t{0}, size - 1}) {
    if (size == 0) return;
    std::int64_t image = 0;
    if (__builtin_mul_overflow(alignment.scale, index, &image) ||
        __builtin_add_overflow(image, alignment.offset, &image))
      throw_outside(index, "a position past 2^63");
    if (image < 0 || image >= extent) throw_outside(index, text(image));
  }
}

/// Returns a local order, after checking that it lists each dimension once.
std::vector<int> validate_order(const std::vector<int>& order, std::size_t dimensions) {
  const std::vector<bool> flags = to_flags(order, dimensions, "order", "dimension");
  if (order.size() != dimensions)
    base::throw_argument_error("order lists ", order.size(), " of the ", dimensions,
                               " dimensions; list each once, slowest first");
  return order;
}

/// Returns true if the indices of each coordinate are consecutive.
bool owns_consecutive(const OwnerMap& owner_map) {
  if (const auto* blocks = dynamic_cast<const BlockOwnerMap*>(&owner_map))
    return blocks->kind() != Distribution::Kind::kCyclic || blocks->set(blocks->owner(0)).contiguous();
  for (std::int64_t c = 0; c < owner_map.extent(); ++c)
    if (owner_map.set(c).runs() > 1) return false;
  return true;
}

void check_halo(const ResolvedLayout& layout, std::size_t d) {
  const Halo halo = layout.halo[d];
  if (halo.lo < 0 || halo.hi < 0)
    base::throw_argument_error("dimension ", d, ": the halo ", halo.lo, ':', halo.hi,
                               " is negative; use widths of 0 or more");
  if (halo == Halo{} || layout.shape[d] == 0) return;
  const OwnerMap& owner_map = *layout.owner_maps[d];
  if (!owns_consecutive(owner_map))
    base::throw_argument_error(
        "dimension ", d,
        ": a halo needs blocks of consecutive indices, but its distribution is cyclic; use block, "
        "balanced or gen_block");
  const std::int64_t longest = owner_map.longest();
  if (halo.lo > longest || halo.hi > longest)
    base::throw_argument_error("dimension ", d, ": the halo ", halo.lo, ':', halo.hi,
                               " is wider than the largest block, which has ", longest,
                               " indices; use a width of at most that");
  base::checked_add(base::checked_add(longest, halo.lo, "padded extent"), halo.hi, "padded extent");
}

/// Checks that each dimension of the array, or of its template, has a distribution.
void check_count(const std::vector<Distribution>& distributions, const Extents& shape, bool is_template) {
  if (distributions.size() == shape.size()) return;
  base::throw_argument_error("the ", is_template ? "template " : "shape ", shape_to_string(shape), " has ",
                             shape.size(), shape.size() == 1 ? " dimension" : " dimensions",
                             ", but the number of distributions is ", distributions.size(),
                             "; give one for each dimension");
}

/// Sets the owner maps of an array that is not aligned with a template.
void set_owner_maps(ResolvedLayout& layout, const std::vector<AxesOfLevels>& axes, const std::vector<Turn>& turns,
                    const Extents& offsets) {
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (offsets[d] < 0)
      base::throw_argument_error("dimension ", d, ": the offset ", offsets[d], " is negative; use 0 or more");
    layout.owner_maps.push_back(make_owner_map(layout.distributions[d],
                                               {layout.shape[d], level_extents(axes[d], layout.map.grid()),
                                                is_distributed(layout.distributions[d]) ? offsets[d] : 0},
                                               turns[d], static_cast<int>(d)));
    for (const std::vector<int>& level : axes[d])
      layout.axes[d].insert(layout.axes[d].end(), level.begin(), level.end());
  }
}

/// Sets the owner maps of an array that is aligned with a template. Returns the pinned coordinate of each axis, -1 for
/// the others.
Extents set_aligned_owner_maps(ResolvedLayout& layout, const std::vector<AxesOfLevels>& axes,
                               const std::vector<Turn>& turns, std::vector<bool>& replicated, const Extents& grid) {
  const LayoutOptions& options = layout.options;
  Extents pinned(grid.size(), -1);
  layout.owner_maps.assign(layout.shape.size(), nullptr);
  for (std::size_t t = 0; t < options.align.size(); ++t) {
    const Alignment& alignment = options.align[t];
    const Distribution& distribution = layout.distributions[t];
    const std::int64_t extent = options.template_shape[t];
    const Extents extents = level_extents(axes[t], grid);
    const int dimension = static_cast<int>(t);
    if (alignment.kind == Alignment::Kind::kDimension) {
      if (alignment.dimension < 0 || at(alignment.dimension) >= layout.shape.size())
        base::throw_argument_error("alignment, template dimension ", t, ": there is no dimension d",
                                   alignment.dimension);
      if (alignment.scale == 0)
        base::throw_argument_error("alignment, template dimension ", t,
                                   ": the factor is 0; use another factor, or a number alone for a fixed index");
      OwnerMapPtr& owner_map = layout.owner_maps[at(alignment.dimension)];
      if (owner_map)
        base::throw_argument_error("alignment: dimension ", alignment.dimension,
                                   " is aligned with two template dimensions");
      const std::int64_t size = layout.shape[at(alignment.dimension)];
      check_inside(alignment, t, size, extent);
      owner_map = make_aligned_map(distribution, {extent, extents, 0}, turns[t], dimension, {size, alignment});
      for (const std::vector<int>& level : axes[t])
        layout.axes[at(alignment.dimension)].insert(layout.axes[at(alignment.dimension)].end(), level.begin(),
                                                    level.end());
      continue;
    }
    const OwnerMapPtr owner_map = make_owner_map(distribution, {extent, extents, 0}, turns[t], dimension);
    std::int64_t coordinate = 0;
    if (alignment.kind == Alignment::Kind::kConstant) {
      if (alignment.offset < 0 || alignment.offset >= extent)
        base::throw_argument_error("alignment, template dimension ", t, ": the index ", alignment.offset,
                                   " is outside the template's indices 0 to ", extent - 1);
      coordinate = owner_map->owner(alignment.offset);
    }
    // The positions on the axes of a dimension are the digits of its coordinate; the last axis is the least significant
    // one.
    for (auto level = axes[t].rbegin(); level != axes[t].rend(); ++level)
      for (auto axis = level->rbegin(); axis != level->rend(); ++axis) {
        if (alignment.kind == Alignment::Kind::kCopies) {
          replicated[at(*axis)] = true;
        } else {
          pinned[at(*axis)] = coordinate % grid[at(*axis)];
          coordinate /= grid[at(*axis)];
        }
      }
  }
  for (std::size_t d = 0; d < layout.shape.size(); ++d)
    if (!layout.owner_maps[d])
      layout.owner_maps[d] =
          make_owner_map(Distribution::collapsed(), {layout.shape[d], {1}, 0}, {}, static_cast<int>(d));
  return pinned;
}

}  // namespace

std::vector<int> dimensions_in(Order order, int dimensions) {
  std::vector<int> result(at(dimensions));
  std::iota(result.begin(), result.end(), 0);
  if (order == Order::kFortran) std::reverse(result.begin(), result.end());
  return result;
}

ResolvedLayout resolve(LayoutArguments arguments) {
  auto& [shape, distributions, grid, ranks, order, options] = arguments;
  ResolvedLayout result;
  result.shape = std::move(shape);
  result.distributions = std::move(distributions);
  result.ranks = ranks;
  result.options = std::move(options);
  const std::size_t dimensions = result.shape.size();
  const bool is_aligned = !result.options.align.empty();
  if (dimensions > kMaxDimensions)
    base::throw_argument_error("the shape has ", dimensions, " dimensions; at most ", kMaxDimensions, " are supported");
  if (is_aligned != !result.options.template_shape.empty() ||
      result.options.align.size() != result.options.template_shape.size())
    base::throw_argument_error("align has length ", result.options.align.size(), ", but the template has ",
                               result.options.template_shape.size(),
                               " dimensions; give both, with one entry of align for each dimension of the template");
  const Extents& distributed_shape = is_aligned ? result.options.template_shape : result.shape;
  check_count(result.distributions, distributed_shape, is_aligned);
  for (std::size_t d = 0; d < dimensions; ++d)
    if (result.shape[d] < 0)
      base::throw_argument_error("dimension ", d, " has the negative size ", result.shape[d], "; use 0 or more");
  for (std::size_t d = 0; d < distributed_shape.size(); ++d)
    if (distributed_shape[d] < 0)
      base::throw_argument_error("template dimension ", d, " has the negative size ", distributed_shape[d]);
  result.elements = base::checked_product(result.shape, "number of elements");
  base::checked_product(distributed_shape, "number of elements of the template");

  const RankMap checked_ranks(grid, ranks == Order::kFortran, {}, {});  // only for the checks of its constructor
  std::vector<bool> replicated = to_flags(result.options.replicate, grid.size(), "replicate", "grid axis");
  const std::vector<AxesOfLevels> axes = assign_axes(result.distributions, grid, replicated);
  const Extents sources =
      expand_entries(result.options.source, result.distributions, "source", /*distributed_only=*/true);
  const Extents offsets =
      expand_entries(result.options.offset, result.distributions, "offset", /*distributed_only=*/false);
  if (is_aligned && !result.options.offset.empty())
    base::throw_argument_error("offset and align were both given; put the offset into align, as in d0+2");
  const std::vector<bool> reverse = to_flags(result.options.reverse, distributed_shape.size(), "reverse", "dimension");
  std::vector<Turn> turns;
  for (std::size_t d = 0; d < distributed_shape.size(); ++d) turns.push_back({sources[d], reverse[d]});

  result.axes.resize(dimensions);
  Extents pinned;
  if (is_aligned) {
    pinned = set_aligned_owner_maps(result, axes, turns, replicated, grid);
  } else {
    result.map = RankMap(grid, /*is_column_major=*/false, {}, {});
    set_owner_maps(result, axes, turns, offsets);
  }
  result.map = RankMap(std::move(grid), ranks == Order::kFortran && result.options.rank_list.empty(),
                       result.options.rank_list, pinned);
  for (std::size_t axis = 0; axis < replicated.size(); ++axis)
    if (replicated[axis]) {
      result.copied_axes.push_back(static_cast<int>(axis));
      result.replicas *= result.map.grid()[axis];
    }
  // Replicas are numbered in the order of their ranks.
  if (!result.map.has_list())
    std::sort(result.copied_axes.begin(), result.copied_axes.end(), [&](int a, int b) {
      return result.map.stride(static_cast<std::size_t>(a)) > result.map.stride(static_cast<std::size_t>(b));
    });

  result.order = result.options.order.empty() ? dimensions_in(order, static_cast<int>(dimensions))
                                              : validate_order(result.options.order, dimensions);
  if (!result.options.halo.empty() && result.options.halo.size() != dimensions)
    base::throw_argument_error("halo has length ", result.options.halo.size(), "; give one entry for each of the ",
                               dimensions, " dimensions");
  result.halo = result.options.halo;
  result.halo.resize(dimensions);
  result.periodic = to_flags(result.options.periodic, dimensions, "periodic", "dimension");
  for (std::size_t d = 0; d < dimensions; ++d) check_halo(result, d);
  return result;
}

}  // namespace plait::layout
