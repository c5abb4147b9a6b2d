#include "plan/partners.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

std::int64_t members_of_first_block(const IndexSet& set) { return set.contiguous() ? set.size() : set.length; }

/// Coordinates that own an index of a wrapping set, found block by block of that set.
std::vector<std::int64_t> walk_blocks(const IndexSet& set, const Layout& layout, int dimension) {
  std::vector<std::int64_t> found;
  for (std::int64_t x = set.next(set.begin); x < set.end;) {
    const std::int64_t left = set.contiguous() ? set.end - x : set.length - (x - set.origin) % set.stride;
    const std::int64_t stop = left < set.end - x ? x + left : set.end;
    const std::vector<std::int64_t> owners = layout.owners_in(dimension, x, stop);
    found.insert(found.end(), owners.begin(), owners.end());
    // Behind the last owner's own stretch: the set's blocks that lie inside one block of the other side are skipped.
    const IndexSet last = layout.index_set(dimension, layout.owner(dimension, stop - 1));
    const std::int64_t block_left =
        last.contiguous() ? last.end - stop : std::max<std::int64_t>(last.length - (stop - 1 - last.origin) % last.stride - 1, 0);
    x = set.next(block_left < set.end - stop ? stop + block_left : set.end);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Coordinates of a cyclic dimension whose blocks can meet a wrapping set: the block at c*k and the set's blocks approach
/// each other in steps of g = gcd of the two strides.
std::vector<std::int64_t> solve_blocks(const IndexSet& set, const Layout& layout, int dimension,
                                       const IndexSet& block_zero) {
  std::vector<std::int64_t> found;
  const std::int64_t extent = layout.coordinates_in(dimension);
  const std::int64_t k = block_zero.length;
  const std::int64_t g = solve_congruence(set.stride, block_zero.stride).divisor;
  if (g <= set.length + k - 1) {
    found.resize(static_cast<std::size_t>(extent));
    for (std::int64_t c = 0; c < extent; ++c) found[static_cast<std::size_t>(c)] = c;
    return found;
  }
  const std::int64_t phase = set.origin % g;
  for (std::int64_t start = phase; start < block_zero.stride + g; start += g) {
    for (std::int64_t c = start / k; c <= (start + set.length - 1) / k; ++c) found.push_back(c % extent);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension) {
  if (set.empty()) return {};
  if (set.contiguous()) return layout.owners_in(dimension, set.begin, set.end);
  const IndexSet block_zero = layout.index_set(dimension, 0);
  const bool wraps = !block_zero.contiguous();
  if (!wraps) return walk_blocks(set, layout, dimension);
  const std::int64_t blocks = (set.end - set.begin) / set.stride + 1;
  const std::int64_t steps_of_walk = blocks * (members_of_first_block(set) / block_zero.length + 1);
  const std::int64_t g = solve_congruence(set.stride, block_zero.stride).divisor;
  const std::int64_t steps_of_solution = std::min(
      layout.coordinates_in(dimension), (block_zero.stride / g + 1) * (set.length / block_zero.length + 2));
  if (steps_of_walk <= steps_of_solution) return walk_blocks(set, layout, dimension);
  return solve_blocks(set, layout, dimension, block_zero);
}

std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other) {
  std::vector<std::vector<Partner>> result;
  const std::vector<IndexSet> sets = mine.index_sets(rank);
  for (int d = 0; d < mine.dimensions(); ++d) {
    const IndexSet& set = sets[static_cast<std::size_t>(d)];
    std::vector<Partner> found;
    for (const std::int64_t coordinate : partners(set, other, d)) {
      Pieces pieces = intersect(set, other.index_set(d, coordinate));
      if (!pieces.empty()) found.push_back({coordinate, std::move(pieces)});
    }
    result.push_back(std::move(found));
  }
  return result;
}

Extents dense_strides(const Extents& shape, Order order) {
  Extents strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = order == Order::kC ? shape.size() - 1 - i : i;
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

std::int64_t runs_of_product(const std::vector<const Pieces*>& pieces, const Extents& shape_a, Order order_a,
                             const Extents& shape_b, Order order_b) {
  const Extents strides_a = dense_strides(shape_a, order_a);
  const Extents strides_b = dense_strides(shape_b, order_b);
  std::vector<bool> fused(pieces.size(), false);
  std::int64_t run = 1;
  std::int64_t count = 1;
  for (bool searching = true; searching;) {
    searching = false;
    for (std::size_t d = 0; d < pieces.size(); ++d) {
      const std::int64_t length = elements(*pieces[d]);
      if (length == 0) return 0;
      if (fused[d] || length == 1 || strides_a[d] != run || strides_b[d] != run) continue;
      fused[d] = true;
      const std::int64_t parts = runs(*pieces[d]);
      if (parts == 1) {
        run *= length;
        searching = true;
      } else {
        count *= parts;
      }
      break;
    }
  }
  for (std::size_t d = 0; d < pieces.size(); ++d)
    if (!fused[d]) count *= elements(*pieces[d]);
  return count;
}

}  // namespace plait::plan
