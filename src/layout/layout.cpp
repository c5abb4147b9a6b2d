#include "plait/layout.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "layout/index_set/linear_runs.hpp"
#include "layout/resolved_layout.hpp"

namespace plait {

using base::text;

namespace {

/// Converts a dimension to an index of std::vector.
std::size_t at(int dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace

Layout::Layout(Extents shape, std::vector<Distribution> distributions, Extents grid, Order ranks, Order order,
               LayoutOptions options)
    : resolved_(std::make_shared<const layout::ResolvedLayout>(layout::resolve(
          {std::move(shape), std::move(distributions), std::move(grid), ranks, order, std::move(options)}))) {}

const Extents& Layout::shape() const { return resolved_->shape; }
const std::vector<Distribution>& Layout::distributions() const { return resolved_->distributions; }
const Extents& Layout::grid() const { return resolved_->map.grid(); }
Order Layout::ranks() const { return resolved_->ranks; }
const LayoutOptions& Layout::options() const { return resolved_->options; }
const std::vector<int>& Layout::order() const { return resolved_->order; }
std::int64_t Layout::size() const { return resolved_->map.size(); }
std::int64_t Layout::ranks_end() const { return resolved_->map.ranks_end(); }
bool Layout::has_rank(std::int64_t rank) const { return resolved_->map.has(rank); }
std::vector<std::int64_t> Layout::rank_numbers() const { return resolved_->map.ranks(); }
std::int64_t Layout::elements() const { return resolved_->elements; }
std::int64_t Layout::replicas() const { return resolved_->replicas; }
std::int64_t Layout::coordinates_in(int dimension) const { return resolved_->owner_map(dimension).extent(); }
std::int64_t Layout::longest_local(int dimension) const { return resolved_->owner_map(dimension).longest(); }
Halo Layout::halo(int dimension) const { return resolved_->halo[at(dimension)]; }
bool Layout::periodic(int dimension) const { return resolved_->periodic[at(dimension)]; }

bool Layout::has_halo() const {
  return std::any_of(resolved_->halo.begin(), resolved_->halo.end(), [](const Halo& halo) { return halo != Halo{}; });
}

Extents Layout::coordinates(std::int64_t rank) const {
  if (!has_rank(rank)) {
    const bool are_consecutive = ranks_end() == size();
    base::throw_argument_error("rank ", rank, " is not in the layout ", spelling(*this), "; ",
                               are_consecutive
                                   ? text("its ranks are 0 to ", size() - 1)
                                   : text("it has ", size(), " ranks, of which the largest is ", ranks_end() - 1));
  }
  const Extents on_axes = resolved_->map.coordinates(rank);
  Extents result(shape().size(), 0);
  for (std::size_t d = 0; d < result.size(); ++d)
    for (const int axis : resolved_->axes[d]) result[d] = result[d] * grid()[at(axis)] + on_axes[at(axis)];
  return result;
}

namespace {

/// Splits a number into the coordinates of several axes, of which the last one varies fastest.
void set_axes(Extents& on_axes, const std::vector<int>& axes, std::int64_t number, const Extents& grid) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    on_axes[at(*axis)] = number % grid[at(*axis)];
    number /= grid[at(*axis)];
  }
}

/// Returns the ranks of all replicas at a grid position of a listed map, in ascending order.
std::vector<std::int64_t> find_listed_copies(const layout::ResolvedLayout& layout, Extents on_axes) {
  std::vector<std::int64_t> ranks;
  for (std::int64_t copy = 0; copy < layout.replicas; ++copy) {
    set_axes(on_axes, layout.copied_axes, copy, layout.map.grid());
    ranks.push_back(layout.map.rank_at(on_axes));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

std::int64_t Layout::rank_at(std::span<const std::int64_t> coordinates, std::int64_t replica) const {
  Extents on_axes(grid().size(), 0);
  for (std::size_t d = 0; d < shape().size(); ++d) set_axes(on_axes, resolved_->axes[d], coordinates[d], grid());
  if (resolved_->map.has_list() && resolved_->replicas > 1)
    return find_listed_copies(*resolved_, std::move(on_axes))[static_cast<std::size_t>(replica)];
  set_axes(on_axes, resolved_->copied_axes, replica, grid());
  return resolved_->map.rank_at(on_axes);
}

std::int64_t Layout::replica(std::int64_t rank) const {
  if (resolved_->replicas == 1) return 0;
  const Extents on_axes = resolved_->map.coordinates(rank);
  if (resolved_->map.has_list()) {
    const std::vector<std::int64_t> ranks = find_listed_copies(*resolved_, on_axes);
    return std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  }
  std::int64_t replica = 0;
  for (const int axis : resolved_->copied_axes) replica = replica * grid()[at(axis)] + on_axes[at(axis)];
  return replica;
}

IndexSet Layout::index_set(int dimension, std::int64_t coordinate) const {
  return resolved_->owner_map(dimension).set(coordinate);
}

std::vector<IndexSet> Layout::index_sets(std::int64_t rank) const {
  const Extents position = coordinates(rank);
  std::vector<IndexSet> result;
  result.reserve(position.size());
  for (int d = 0; d < dimensions(); ++d) result.push_back(index_set(d, position[at(d)]));
  return result;
}

Extents Layout::local_shape(std::int64_t rank) const {
  Extents result;
  for (const IndexSet& set : index_sets(rank)) result.push_back(set.size());
  return result;
}

std::int64_t Layout::local_elements(std::int64_t rank) const {
  return base::checked_product(local_shape(rank), "number of local elements");
}

Extents Layout::padded_shape(std::int64_t rank) const {
  Extents result = local_shape(rank);
  for (std::size_t d = 0; d < result.size(); ++d) result[d] += resolved_->halo[d].lo + resolved_->halo[d].hi;
  return result;
}

std::int64_t Layout::runs(std::int64_t rank, Order order) const {
  return layout::find_linear_runs(index_sets(rank), shape(), layout::dimensions_in(order, dimensions())).count;
}

std::int64_t Layout::largest_run(std::int64_t rank, Order order) const {
  return layout::find_linear_runs(index_sets(rank), shape(), layout::dimensions_in(order, dimensions())).longest;
}

std::int64_t Layout::owner(int dimension, std::int64_t index) const {
  return resolved_->owner_map(dimension).owner(index);
}

std::vector<std::int64_t> Layout::owners_in(int dimension, std::int64_t begin, std::int64_t end) const {
  return resolved_->owner_map(dimension).owners_in(begin, end);
}

namespace {

/// Returns the coordinates of the owner of an element.  errors  kArgument: the index is outside the array.
Extents element_coordinates(const Layout& layout, std::span<const std::int64_t> index) {
  if (index.size() != layout.shape().size())
    base::throw_argument_error("the index ", base::tuple_text(index), " has length ", index.size(),
                               ", but the array has ", layout.shape().size(), " dimensions; give one index for each");
  Extents result(index.size());
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= layout.shape()[d])
      base::throw_argument_error("the index ", base::tuple_text(index), " is outside the array ",
                                 shape_to_string(layout.shape()));
    result[d] = layout.owner(static_cast<int>(d), index[d]);
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> Layout::owners(std::span<const std::int64_t> index) const {
  const Extents position = element_coordinates(*this, index);
  std::vector<std::int64_t> result;
  for (std::int64_t replica = 0; replica < replicas(); ++replica) result.push_back(rank_at(position, replica));
  std::sort(result.begin(), result.end());
  return result;
}

std::int64_t Layout::owner(std::span<const std::int64_t> index) const {
  return rank_at(element_coordinates(*this, index));
}

Extents Layout::to_local(std::span<const std::int64_t> index, std::int64_t rank) const {
  const Extents owner_coordinates = element_coordinates(*this, index);
  if (coordinates(rank) != owner_coordinates)
    base::throw_argument_error("rank ", rank, " does not own the element ", base::tuple_text(index), "; rank ",
                               rank_at(owner_coordinates), " does");
  const std::vector<IndexSet> sets = index_sets(rank);
  Extents local(sets.size());
  for (std::size_t d = 0; d < sets.size(); ++d) local[d] = sets[d].count_below(index[d]);
  return local;
}

Extents Layout::to_global(std::span<const std::int64_t> local, std::int64_t rank) const {
  const std::vector<IndexSet> sets = index_sets(rank);
  bool inside = local.size() == sets.size();
  for (std::size_t d = 0; inside && d < sets.size(); ++d) inside = local[d] >= 0 && local[d] < sets[d].size();
  if (!inside)
    base::throw_argument_error("the local index ", base::tuple_text(local), " is outside the local array ",
                               shape_to_string(local_shape(rank)), " of rank ", rank);
  Extents index(sets.size());
  for (std::size_t d = 0; d < sets.size(); ++d) index[d] = sets[d].at(local[d]);
  return index;
}

bool Layout::spelled_like(const Layout& other) const {
  const layout::ResolvedLayout& a = *resolved_;
  const layout::ResolvedLayout& b = *other.resolved_;
  return resolved_ == other.resolved_ ||
         (a.shape == b.shape && a.map.grid() == b.map.grid() && a.distributions == b.distributions &&
          a.ranks == b.ranks && a.order == b.order && a.options == b.options);
}

/// Gives get_owner_map() access to the private members of a Layout.
struct layout::LayoutInternals {
  static const ResolvedLayout& resolved(const Layout& layout) { return *layout.resolved_; }
};

const layout::OwnerMap& layout::get_owner_map(const Layout& layout, int dimension) {
  return LayoutInternals::resolved(layout).owner_map(dimension);
}

}  // namespace plait
