// The partners of a rank: in each dimension, the coordinates of the other layout that own some of the same indices.
//
// Two ways lead to the same result. walk_partners() looks up the owner of each run of the rank's indices, which is
// faster if the distributions have a long common period. pair_partners() finds candidates by their index sets, and
// intersects the rank's set with that of each candidate.

#include "plan/conversion/partners.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "plan/conversion/owned_pieces.hpp"
#include "plan/conversion/owner_coordinates.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension) {
  return meeting(set, layout::get_owner_map(layout, dimension));
}

namespace {

/// Returns the extent of a coordinate's local array in a dimension, including the halo.
std::int64_t padded(const Layout& layout, int dimension, std::int64_t coordinate) {
  const Halo halo = layout.halo(dimension);
  return layout.index_set(dimension, coordinate).size() + halo.lo + halo.hi;
}

}  // namespace

Overlap make_overlap(const Pieces& pieces, std::int64_t extent_a, std::int64_t extent_b) {
  Overlap result{elements(pieces), runs(pieces), extent_a, extent_b, false};
  bool first = false;
  bool last = false;
  for (const Piece& piece : pieces) {
    first = first || (piece.a == 0 && piece.b == 0);
    last = last || (piece.a + (piece.count - 1) * piece.a_stride + piece.length == extent_a &&
                    piece.b + (piece.count - 1) * piece.b_stride + piece.length == extent_b);
  }
  result.at_both_ends = first && last;
  return result;
}

namespace {

/// One dimension of two layouts, from the view of a coordinate of the first one.
struct View {
  const Layout& mine;
  const Layout& other;
  int dimension;
  std::int64_t coordinate;

  Overlap overlap_with(std::int64_t other_coordinate, const Pieces& pieces) const {
    return make_overlap(pieces, padded(mine, dimension, coordinate), padded(other, dimension, other_coordinate));
  }
};

/// Returns the partners of a coordinate whose halo is not filled, by one walk over the indices that it owns.
std::vector<Partner> walk_partners(const Span& own, const View& view) {
  std::vector<Partner> found;
  for (OwnedPieces& owned : owned_pieces(own.set, layout::get_owner_map(view.other, view.dimension))) {
    shift(owned.pieces, own.position, view.other.halo(view.dimension).lo);
    found.push_back({owned.coordinate, {view.overlap_with(owned.coordinate, owned.pieces)}});
  }
  return found;
}

/// Returns the partners of a coordinate by intersecting its spans with those of each candidate.
std::vector<Partner> pair_partners(const std::vector<Span>& own, const View& view, bool fill_other) {
  std::vector<std::int64_t> candidates;
  for (const Span& span : own) {
    const auto met = coordinates_meeting(span.set, view.other, view.dimension, fill_other);
    candidates.insert(candidates.end(), met.begin(), met.end());
  }
  if (own.size() > 1) {
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }
  std::vector<Partner> found;
  for (const std::int64_t coordinate : candidates) {
    Partner partner{coordinate, {}};
    for (const Span& other_span : spans(view.other, view.dimension, coordinate, fill_other))
      for (const Span& span : own) {
        Pieces pieces = intersect(span.set, other_span.set);
        if (pieces.empty()) continue;
        shift(pieces, span.position, other_span.position);
        partner.overlaps.push_back(view.overlap_with(coordinate, pieces));
      }
    if (!partner.overlaps.empty()) found.push_back(std::move(partner));
  }
  return found;
}

}  // namespace

std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other,
                                                        bool fill_mine, bool fill_other) {
  std::vector<std::vector<Partner>> result;
  const Extents position = mine.coordinates(rank);
  for (int d = 0; d < mine.dimensions(); ++d) {
    const std::int64_t coordinate = position[static_cast<std::size_t>(d)];
    const std::vector<Span> own = spans(mine, d, coordinate, fill_mine);
    const bool walks = own.size() == 1 && owner_walk_is_cheaper(own[0].set, layout::get_owner_map(other, d));
    const View view{mine, other, d, coordinate};
    result.push_back(walks ? walk_partners(own[0], view) : pair_partners(own, view, fill_other));
  }
  return result;
}

void shift(Pieces& pieces, std::int64_t by_a, std::int64_t by_b) {
  for (Piece& piece : pieces) {
    piece.a += by_a;
    piece.b += by_b;
  }
}

Extents in_bytes(Extents strides, std::int64_t element_bytes) {
  for (std::int64_t& stride : strides) stride *= element_bytes;
  return strides;
}

Extents dense_strides(const Extents& shape, const std::vector<int>& order) {
  Extents strides(shape.size());
  std::int64_t stride = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[static_cast<std::size_t>(*d)] = stride;
    // If another dimension is empty, the product may overflow.  The strides are never used then.
    if (__builtin_mul_overflow(stride, shape[static_cast<std::size_t>(*d)], &stride)) stride = 0;
  }
  return strides;
}

Extents dense_strides(const Extents& shape) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  return dense_strides(shape, order);
}

/// An element directly follows another one in a local array if one dimension advances by one while all faster ones go
/// from their last position back to their first one.  The two elements are in one run if this holds in both arrays with
/// the same dimensions, so these must be the fastest dimensions of both, apart from dimensions of extent 1.
///
/// Example: rank 0 of `4x6 (block, *) onto (2)` has 2x6 elements, and rank 1 of `4x6 (*, block) onto (2)` has 4x3
/// elements.  The message has 2x3 elements.  Columns, the fastest dimension, have (3 - 1) * 2 = 4 pairs of neighbours
/// that are adjacent on both sides.  The overlap does not contain both ends of both arrays (3 columns of 6), so rows
/// add none: 6 - 4 = 2 runs.
std::int64_t count_product_runs(const std::vector<const Overlap*>& overlaps, const std::vector<int>& order_a,
                                const std::vector<int>& order_b) {
  const auto overlap = [&](int d) -> const Overlap& { return *overlaps[static_cast<std::size_t>(d)]; };
  std::int64_t total = 1;
  for (const Overlap* each : overlaps) total *= each->elements;
  if (total == 0) return 0;
  std::vector<int> fast_a;
  std::vector<int> fast_b;
  for (auto d = order_a.rbegin(); d != order_a.rend(); ++d)
    if (overlap(*d).extent_a > 1) fast_a.push_back(*d);
  for (auto d = order_b.rbegin(); d != order_b.rend(); ++d)
    if (overlap(*d).extent_b > 1) fast_b.push_back(*d);
  std::int64_t adjacent_pairs = 0;
  std::int64_t others = total;  // combinations of indices in the slower dimensions, which do not change
  bool wrap = true;
  for (std::size_t j = 0; wrap && j < std::min(fast_a.size(), fast_b.size()); ++j) {
    const Overlap& moving = overlap(fast_a[j]);
    others /= moving.elements;
    // An element follows its neighbour in both arrays only if both advance in the same dimension, fast_a[j], and wrap
    // around in the same faster dimensions.
    const bool same =
        fast_a[j] == fast_b[j] &&
        std::is_permutation(fast_a.begin(), fast_a.begin() + static_cast<std::ptrdiff_t>(j), fast_b.begin());
    if (same) adjacent_pairs += (moving.elements - moving.runs) * others;
    wrap = moving.at_both_ends;
  }
  return total - adjacent_pairs;
}

}  // namespace plait::plan
