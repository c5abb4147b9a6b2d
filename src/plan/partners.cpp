#include "plan/partners.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "layout/deal.hpp"
#include "plan/spans.hpp"

namespace plait::plan {

namespace {

void sort_unique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Coordinates that own an index of a set, found run by run.
std::vector<std::int64_t> walk_runs(const IndexSet& set, const layout::Deal& deal) {
  std::vector<std::int64_t> found;
  for (std::int64_t x = set.next(set.begin); x < set.end;) {
    const std::int64_t stop = set.run_end(x);
    const std::vector<std::int64_t> owners = deal.owners_in(x, stop);
    found.insert(found.end(), owners.begin(), owners.end());
    // Runs of the set that lie inside the last owner's run are skipped.
    x = set.next(deal.set(deal.owner(stop - 1)).run_end(stop - 1));
  }
  sort_unique(found);
  return found;
}

/// Coordinates of a round robin whose blocks can meet a wrapping set: the block at b*k and the set's runs approach each
/// other in steps of g = gcd of the two strides.
std::vector<std::int64_t> solve_blocks(const IndexSet& set, const layout::BlockDeal& deal) {
  std::vector<std::int64_t> found;
  const std::int64_t k = deal.block();
  const std::int64_t round = k * deal.extent();
  const std::int64_t g = std::gcd(set.stride, round);
  const auto meets = [&](std::int64_t begin, std::int64_t length) {
    const std::int64_t phase = ((set.origin % g + deal.offset() % g + begin % g) % g + g) % g;
    for (std::int64_t start = phase; start < round + g; start += g)
      for (std::int64_t b = start / k; b <= (start + length - 1) / k; ++b)
        found.push_back(deal.coordinate_of(b % deal.extent()));
  };
  if (!set.pattern) {
    meets(0, set.length);
  } else {
    for (const IndexSet::PatternRun& run : *set.pattern) meets(run.begin, run.length);
  }
  sort_unique(found);
  return found;
}

std::vector<std::int64_t> all_coordinates(const layout::Deal& deal) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(deal.extent()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

std::vector<std::int64_t> partners(const IndexSet& set, const Layout& layout, int dimension) {
  if (set.empty()) return {};
  const layout::Deal& deal = layout.deal(dimension);
  if (set.contiguous()) return deal.owners_in(set.begin, set.end);
  const auto* blocks = dynamic_cast<const layout::BlockDeal*>(&deal);
  const std::int64_t runs = set.runs();
  // Where each coordinate has one run, the walk skips from one coordinate to the next.
  if (blocks != nullptr && blocks->set(0).contiguous()) return walk_runs(set, deal);
  if (blocks == nullptr) return runs <= deal.extent() ? walk_runs(set, deal) : all_coordinates(deal);
  const std::int64_t longest = set.longest_run();
  const std::int64_t round = times(blocks->block(), deal.extent());
  const std::int64_t g = round == INT64_MAX ? 1 : std::gcd(set.stride, round);
  const auto in_period = static_cast<std::int64_t>(set.pattern ? set.pattern->size() : 1);
  const std::int64_t solving =
      round == INT64_MAX ? INT64_MAX : times(times(round / g + 1, longest / blocks->block() + 2), in_period);
  const std::int64_t walking = times(runs, longest / blocks->block() + 1);
  const std::int64_t trying = deal.extent();
  if (walking <= std::min(solving, trying)) return walk_runs(set, deal);
  return solving < trying ? solve_blocks(set, *blocks) : all_coordinates(deal);
}

namespace {

std::int64_t padded(const Layout& layout, int dimension, std::int64_t coordinate) {
  const Halo halo = layout.halo(dimension);
  return layout.index_set(dimension, coordinate).size() + halo.lo + halo.hi;
}

}  // namespace

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

std::vector<std::vector<Partner>> partners_by_dimension(const Layout& mine, std::int64_t rank, const Layout& other,
                                                        bool fill_mine, bool fill_other) {
  std::vector<std::vector<Partner>> result;
  const Extents place = mine.coordinates(rank);
  for (int d = 0; d < mine.dimensions(); ++d) {
    const std::vector<Span> own = spans(mine, d, place[static_cast<std::size_t>(d)], fill_mine);
    std::vector<std::int64_t> candidates;
    for (const Span& span : own) {
      const auto met = coordinates_meeting(span.set, other, d, fill_other);
      candidates.insert(candidates.end(), met.begin(), met.end());
    }
    if (own.size() > 1) sort_unique(candidates);
    std::vector<Partner> found;
    for (const std::int64_t coordinate : candidates) {
      Partner partner{coordinate, {}};
      for (const Span& theirs : spans(other, d, coordinate, fill_other))
        for (const Span& span : own) {
          Pieces pieces = intersect(span.set, theirs.set);
          if (pieces.empty()) continue;
          shift(pieces, span.place, theirs.place);
          partner.overlaps.push_back(
              overlap_of(pieces, padded(mine, d, place[static_cast<std::size_t>(d)]), padded(other, d, coordinate)));
        }
      if (!partner.overlaps.empty()) found.push_back(std::move(partner));
    }
    result.push_back(std::move(found));
  }
  return result;
}

void shift(Pieces& pieces, std::int64_t by_a, std::int64_t by_b) {
  for (Piece& piece : pieces) {
    piece.a += by_a;
    piece.b += by_b;
  }
}

Extents dense_strides(const Extents& shape, const std::vector<int>& order) {
  Extents strides(shape.size());
  std::int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[static_cast<std::size_t>(*d)] = step;
    // Beside an empty dimension the others may be of any size, and no step is ever taken.
    if (__builtin_mul_overflow(step, shape[static_cast<std::size_t>(*d)], &step)) step = 0;
  }
  return strides;
}

Extents dense_strides(const Extents& shape) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  return dense_strides(shape, order);
}

/// An element is directly behind another one in a local array where one dimension moves on by one while all faster ones
/// go from their last place back to their first one.  In both arrays that must be the same dimensions, so these are the
/// fastest ones of both, as far as those can move at all.
std::int64_t runs_of_product(const std::vector<const Overlap*>& overlaps, const std::vector<int>& order_a,
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
  std::int64_t joints = 0;
  std::int64_t others = total;  // combinations of the dimensions that stay
  bool wrap = true;
  for (std::size_t j = 0; wrap && j < std::min(fast_a.size(), fast_b.size()); ++j) {
    const Overlap& moving = overlap(fast_a[j]);
    others /= moving.elements;
    // The first j+1 dimensions of both, the last one of them the same.
    const bool same =
        fast_a[j] == fast_b[j] &&
        std::is_permutation(fast_a.begin(), fast_a.begin() + static_cast<std::ptrdiff_t>(j), fast_b.begin());
    if (same) joints += (moving.elements - moving.runs) * others;
    wrap = moving.at_both_ends;
  }
  return total - joints;
}

}  // namespace plait::plan
