#include "plan/partners.hpp"

#include <algorithm>
#include <numeric>

namespace plait::plan {

namespace {

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
        last.contiguous() ? last.end - stop
                          : std::max<std::int64_t>(last.length - (stop - 1 - last.origin) % last.stride - 1, 0);
    x = set.next(block_left < set.end - stop ? stop + block_left : set.end);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Coordinates of a cyclic dimension whose blocks can meet a wrapping set: the block at c*k and the set's blocks
/// approach each other in steps of g = gcd of the two strides.
std::vector<std::int64_t> solve_blocks(const IndexSet& set, const Layout& layout, int dimension,
                                       const IndexSet& block_zero) {
  std::vector<std::int64_t> found;
  const std::int64_t extent = layout.coordinates_in(dimension);
  const std::int64_t k = block_zero.length;
  const std::int64_t g = std::gcd(set.stride, block_zero.stride);
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
  const std::int64_t steps_of_walk = blocks * (set.length / block_zero.length + 1);
  const std::int64_t g = std::gcd(set.stride, block_zero.stride);
  const std::int64_t steps_of_solution = g <= set.length + block_zero.length - 1
                                             ? layout.coordinates_in(dimension)
                                             : (block_zero.stride / g + 1) * (set.length / block_zero.length + 2);
  if (steps_of_walk <= steps_of_solution) return walk_blocks(set, layout, dimension);
  return solve_blocks(set, layout, dimension, block_zero);
}

Overlap overlap_of(const Pieces& pieces, std::int64_t extent_a, std::int64_t extent_b) {
  Overlap result{elements(pieces), runs(pieces), extent_a, extent_b, false};
  bool first = false;
  bool last = false;
  for (const Piece& piece : pieces) {
    first = first || (piece.a == 0 && piece.b == 0);
    last = last || (piece.a + (piece.count - 1) * piece.a_step + piece.length == extent_a &&
                    piece.b + (piece.count - 1) * piece.b_step + piece.length == extent_b);
  }
  result.at_both_ends = first && last;
  return result;
}

std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other) {
  std::vector<std::vector<Partner>> result;
  const std::vector<IndexSet> sets = mine.index_sets(rank);
  for (int d = 0; d < mine.dimensions(); ++d) {
    const IndexSet& set = sets[static_cast<std::size_t>(d)];
    std::vector<Partner> found;
    for (const std::int64_t coordinate : partners(set, other, d)) {
      const IndexSet others = other.index_set(d, coordinate);
      Pieces pieces = intersect(set, others);
      if (pieces.empty()) continue;
      const Overlap overlap = overlap_of(pieces, set.size(), others.size());
      found.push_back({coordinate, std::move(pieces), overlap});
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
    // Beside an empty dimension the others may be of any size, and no step is ever taken.
    if (__builtin_mul_overflow(step, shape[d], &step)) step = 0;
  }
  return strides;
}

namespace {

/// Elements that are directly behind another one in both local arrays, where both have the same order: a dimension
/// moves on by one while all faster ones go from their last index back to their first one.
std::int64_t joints_same_order(const std::vector<const Overlap*>& overlaps, Order order, std::int64_t total) {
  std::int64_t joints = 0;
  std::int64_t slower = total;
  for (std::size_t i = 0; i < overlaps.size(); ++i) {
    const Overlap& overlap = *overlaps[order == Order::kC ? overlaps.size() - 1 - i : i];
    slower /= overlap.elements;
    joints += (overlap.elements - overlap.runs) * slower;
    if (!overlap.at_both_ends) break;
  }
  return joints;
}

/// The same where one local array is in C order and the other one in Fortran order: only a dimension that is the
/// fastest one of both can move on.
std::int64_t joints_mixed_order(const std::vector<const Overlap*>& overlaps, Order order_a) {
  const auto long_in_c = [&](const Overlap* o) { return (order_a == Order::kC ? o->extent_a : o->extent_b) > 1; };
  const auto long_in_fortran = [&](const Overlap* o) { return (order_a == Order::kC ? o->extent_b : o->extent_a) > 1; };
  const auto fastest_in_c = std::find_if(overlaps.rbegin(), overlaps.rend(), long_in_c);
  const auto fastest_in_fortran = std::find_if(overlaps.begin(), overlaps.end(), long_in_fortran);
  if (fastest_in_c == overlaps.rend() || fastest_in_fortran == overlaps.end()) return 0;
  if (*fastest_in_c != *fastest_in_fortran) return 0;
  return (*fastest_in_c)->elements - (*fastest_in_c)->runs;
}

}  // namespace

std::int64_t runs_of_product(const std::vector<const Overlap*>& overlaps, Order order_a, Order order_b) {
  std::int64_t total = 1;
  for (const Overlap* overlap : overlaps) total *= overlap->elements;
  if (total == 0) return 0;
  return total -
         (order_a == order_b ? joints_same_order(overlaps, order_a, total) : joints_mixed_order(overlaps, order_a));
}

}  // namespace plait::plan
