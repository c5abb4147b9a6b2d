// The shortest run of a conversion, without walking its messages.
//
// Problem: the shortest run over all pairs of ranks decides how a conversion is carried out.  There may be a million
// pairs, and each one may have many runs.
//
// Idea: dimensions are independent, and in one dimension two distributions cut the indices into stretches with one
// owner on each side.  The shortest run of equal blocks is the smallest distance between a multiple of one block and a
// multiple of the other, that is, the smallest residue of multiples of one block modulo the other.  The continued
// fraction of their quotient finds it in O(log) steps.  Runs that are the whole local array on both sides continue in
// the next slower dimension, so their lengths are multiplied.
//
// Example: 10,000 indices in blocks of 1000 and in blocks of 384.  Residues of i * 1000 modulo 384 for i = 1 to 9 are
// 232, 80, 312, 160, 8, 240, 88, 320 and 168.  The smallest one, 8, belongs to the cut at 5000, just after 13 * 384 =
// 4992.  The largest one leaves 384 - 320 = 64 to the cut at 8064.  The last stretch, [9984, 10000), has 16 indices.
// So the shortest run is 8. min_residue() reaches 8 through the pairs (232, 152), (80, 152), (80, 72) and (8, 72).

#include "plan/conversion/block_size.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "layout/owner_map.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/conversion/pieces.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

namespace {

using Kind = Distribution::Kind;

/// The shortest runs of one dimension.  A run that is the whole local array of both its ranks continues in the next
/// slower dimension; any other one ends.
struct ShortestRun {
  std::int64_t ending = INT64_MAX;
  std::int64_t whole = INT64_MAX;
};

/// One dimension of one side as a sequence of blocks with one owner each.
class Side {
 public:
  Side(const Layout& normal, int d)
      : layout_(normal), dimension_(d), size_(normal.shape()[static_cast<std::size_t>(d)]) {
    const Distribution& distribution = normal.distributions()[static_cast<std::size_t>(d)];
    if (distribution.kind == Kind::kCollapsed) {
      block_ = size_;
    } else if (distribution.kind == Kind::kBlock || distribution.kind == Kind::kCyclic) {
      block_ = distribution.block != 0 ? distribution.block : (size_ - 1) / normal.coordinates_in(d) + 1;
    }
  }

  /// Returns the length of all blocks except the last one, or 0 if they differ.
  std::int64_t block() const { return block_; }
  /// Returns all indices that the owner of `index` has.
  IndexSet set_with(std::int64_t index) const {
    return layout_.index_set(dimension_, layout_.owner(dimension_, index));
  }
  /// Returns the end of the block that contains `index`.
  std::int64_t block_end(std::int64_t index) const {
    if (block_ == 0) return set_with(index).end;
    const std::int64_t left = block_ - index % block_;
    return left < size_ - index ? index + left : size_;
  }

 private:
  const Layout& layout_;
  int dimension_;
  std::int64_t size_;
  std::int64_t block_ = 0;
};

/// Includes the stretch [begin, end), which has one owner on each side, in the shortest runs.
void add(ShortestRun& shortest, const Side& a, const Side& b, std::int64_t begin, std::int64_t end) {
  const IndexSet in_a = a.set_with(begin);
  const IndexSet in_b = b.set_with(begin);
  const std::int64_t length = end - begin;
  if (in_a.size() == length && in_b.size() == length) {
    shortest.whole = std::min(shortest.whole, length);
    return;
  }
  // If both sides have the same gap before the stretch, it continues the run before the gap.  Some other stretch is
  // shorter than either part, so this one need not be counted.
  const std::int64_t position_a = in_a.count_below(begin);
  const std::int64_t position_b = in_b.count_below(begin);
  if (position_a > 0 && position_b > 0 && in_a.at(position_a - 1) == in_b.at(position_b - 1)) return;
  shortest.ending = std::min(shortest.ending, length);
}

/// Returns the smallest i*increment mod modulus above 0 for 1 <= i <= max_factor, or INT64_MAX if there is none.  If
/// `below`, residues are counted downwards from the modulus.  Uses the continued fraction of increment/modulus: O(log
/// modulus).
std::int64_t min_residue(std::int64_t increment, std::int64_t modulus, std::int64_t max_factor, bool below) {
  increment %= modulus;
  if (max_factor < 1 || increment == 0) return INT64_MAX;
  if (below) increment = modulus - increment;
  // The smallest residue so far, and the smallest distance to the modulus so far, each with the i at which it occurs.
  std::int64_t low = increment;
  std::int64_t low_at = 1;
  std::int64_t high = modulus - increment;
  std::int64_t high_at = 1;
  while (low != high) {
    std::int64_t& larger = low > high ? low : high;
    std::int64_t& larger_at = low > high ? low_at : high_at;
    const std::int64_t smaller = std::min(low, high);
    const std::int64_t smaller_at = low > high ? high_at : low_at;
    const std::int64_t times = std::min((larger - 1) / smaller, (max_factor - larger_at) / smaller_at);
    if (times < 1) break;
    larger -= times * smaller;
    larger_at += times * smaller_at;
  }
  return low;
}

/// Returns the shortest stretch between a multiple of one block and the next multiple of the other, without the last
/// stretch.
std::int64_t shortest_gap(std::int64_t block_a, std::int64_t block_b, std::int64_t size) {
  const std::int64_t smaller = std::min(block_a, block_b);
  const std::int64_t larger = std::max(block_a, block_b);
  const std::int64_t cuts = (size - 1) / larger;
  // Searches before and after each cut of the larger blocks.  If the other side has no cut after the last of these
  // cuts, the last stretch is shorter still, and the caller counts it.
  const std::int64_t before = min_residue(larger, smaller, cuts, /*below=*/false);
  const std::int64_t after = min_residue(larger, smaller, cuts, /*below=*/true);
  return std::min({size > smaller ? smaller : INT64_MAX, before, after});
}

/// Returns the shortest runs of two sequences of equal blocks.  Only the last stretch can be whole on both sides, or
/// continue after equal gaps.  Any other stretch has a cut of only one side at one of its ends or, like the first
/// stretch, is as long as the smaller block.
ShortestRun of_equal_blocks(const Side& a, const Side& b, std::int64_t size) {
  ShortestRun shortest;
  if (a.block() != b.block()) {
    shortest.ending = shortest_gap(a.block(), b.block(), size);
  } else if (size > a.block()) {
    add(shortest, a, b, 0, a.block());
  }
  const std::int64_t last_a = (size - 1) / a.block() * a.block();
  const std::int64_t last_b = (size - 1) / b.block() * b.block();
  add(shortest, a, b, std::max(last_a, last_b), size);
  return shortest;
}

/// Returns the shortest runs if the blocks of a side differ, by a walk over these blocks.  Equal blocks of the other
/// side that are inside one of them are skipped.
ShortestRun of_uneven_blocks(const Side& a, const Side& b, std::int64_t size) {
  const std::int64_t block = std::max(a.block(), b.block());
  ShortestRun shortest;
  for (std::int64_t x = 0; x < size && shortest.ending > 1;) {
    const std::int64_t end_a = a.block_end(x);
    const std::int64_t end_b = b.block_end(x);
    const std::int64_t end = std::min(end_a, end_b);
    add(shortest, a, b, x, end);
    x = end;
    const std::int64_t uneven_end = std::max(end_a, end_b);
    if (block == 0 || x % block != 0 || (a.block() == 0 ? end_a : end_b) != uneven_end) continue;
    // After the first stretch of an uneven block, which is at most as long as an equal one, whole equal blocks follow.
    if (uneven_end - x > block) x = (uneven_end - 1) / block * block;
  }
  return shortest;
}

/// Returns the shortest local extent of a dimension over the coordinates that own an index.
std::int64_t shortest_extent(const Layout& layout, int d) {
  const std::int64_t size = layout.shape()[static_cast<std::size_t>(d)];
  const Distribution& distribution = layout.distributions()[static_cast<std::size_t>(d)];
  std::int64_t shortest = size;
  for (const std::int64_t part : distribution.sizes)
    if (part > 0) shortest = std::min(shortest, part);
  if (!distribution.sizes.empty()) return shortest;
  // Only the coordinate with the last index has a ragged block.  In a round robin the coordinates after it have one
  // block less.
  const std::int64_t last = layout.owner(d, size - 1);
  for (const std::int64_t c : {last, (last + 1) % layout.coordinates_in(d)})
    if (const std::int64_t extent = layout.index_set(d, c).size(); extent > 0) shortest = std::min(shortest, extent);
  return shortest;
}

/// True if two layouts distribute a dimension in the same way.
bool cut_alike(const Layout& a, const Layout& b, int d) {
  return a.distributions()[static_cast<std::size_t>(d)] == b.distributions()[static_cast<std::size_t>(d)] &&
         a.coordinates_in(d) == b.coordinates_in(d);
}

/// Returns the shortest runs of a dimension in which regular() holds for both layouts.
ShortestRun shortest_runs(const Layout& a, const Layout& b, int d) {
  if (cut_alike(a, b, d)) return {INT64_MAX, shortest_extent(a, d)};
  const Side side_a(a, d);
  const Side side_b(b, d);
  const std::int64_t size = a.shape()[static_cast<std::size_t>(d)];
  const bool equal_blocks = side_a.block() != 0 && side_b.block() != 0;
  return equal_blocks ? of_equal_blocks(side_a, side_b, size) : of_uneven_blocks(side_a, side_b, size);
}

/// True if a dimension is distributed in plain blocks from coordinate 0 on, without a halo, so that shortest_runs() can
/// compute its shortest runs.
bool regular(const Layout& normal, int d) {
  const auto* blocks = dynamic_cast<const layout::BlockOwnerMap*>(&layout::get_owner_map(normal, d));
  return blocks != nullptr && blocks->turn().plain() && blocks->offset() == 0 && normal.halo(d) == Halo{};
}

/// Returns the shortest runs of any two distributions, from the pieces of all pairs of coordinates.
ShortestRun of_all_pairs(const Layout& a, const Layout& b, int d, bool fill_halo) {
  ShortestRun shortest;
  for (std::int64_t c = 0; c < a.coordinates_in(d); ++c) {
    for (const Span& span_a : spans(a, d, c, /*fill_halo=*/false)) {
      const std::int64_t extent_a = span_a.set.size() + a.halo(d).lo + a.halo(d).hi;
      for (const std::int64_t other : coordinates_meeting(span_a.set, b, d, fill_halo)) {
        const std::int64_t extent_b = b.index_set(d, other).size() + b.halo(d).lo + b.halo(d).hi;
        for (const Span& span_b : spans(b, d, other, fill_halo)) {
          for (const Piece& piece : intersect(span_a.set, span_b.set)) {
            const bool whole = piece.length == extent_a && piece.length == extent_b;
            std::int64_t& minimum = whole ? shortest.whole : shortest.ending;
            minimum = std::min(minimum, piece.length);
          }
        }
      }
    }
  }
  return shortest;
}

/// Returns the dimensions that are longer than 1 on some rank, fastest first.
std::vector<int> long_dimensions(const Layout& normal) {
  std::vector<int> result;
  for (auto d = normal.order().rbegin(); d != normal.order().rend(); ++d)
    if (normal.longest_local(*d) + normal.halo(*d).lo + normal.halo(*d).hi > 1) result.push_back(*d);
  return result;
}

}  // namespace

std::int64_t block_size(const Layout& source, const Layout& target, bool fill_halo) {
  if (source.elements() == 0) return 0;
  const Layout a = source.normal_form();
  const Layout b = target.normal_form();
  const std::vector<int> fastest_a = long_dimensions(a);
  const std::vector<int> fastest_b = long_dimensions(b);
  std::int64_t shortest = INT64_MAX;  // shortest run that ends in one of these dimensions
  std::int64_t fused = 1;             // shortest run that is whole in all of them
  for (std::size_t i = 0; i < std::min(fastest_a.size(), fastest_b.size()); ++i) {
    const int d = fastest_a[i];
    if (fastest_b[i] != d) break;
    const ShortestRun found =
        regular(a, d) && regular(b, d) ? shortest_runs(a, b, d) : of_all_pairs(a, b, d, fill_halo);
    if (found.ending != INT64_MAX) shortest = std::min(shortest, fused * found.ending);
    if (found.whole == INT64_MAX) return shortest;
    fused *= found.whole;
  }
  return std::min(shortest, fused);
}

}  // namespace plait::plan
