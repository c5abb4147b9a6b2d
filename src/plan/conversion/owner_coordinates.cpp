// The coordinates of one distribution that own an index of a set, such as the indices that a rank has in another one.
//
// Problem: a message plan must find the partners of a rank without a test of every pair of ranks. Trying all p
// coordinates costs O(p), and walking over the runs of the set costs O(runs). Both can be a million although only a few
// ranks meet.
//
// Idea: cyclic(k) on p coordinates repeats after a round of r = k*p indices, and the set after its stride s. Run number
// j of the set begins at origin + j*s. Modulo r these beginnings are all positions that equal the origin modulo g =
// gcd(s, r), so there are only r/g of them, and each one is in a block whose coordinate is known.
//
// Example: the set {1, 5, 9, 13, ...} (cyclic(1) on 4 coordinates, coordinate 1: origin 1, length 1, s = 4) meets
// cyclic(2) on 4 (r = 8). g = 4, so a run begins at position 1 or 5 of a round: blocks 0 and 2. Coordinates 0 and 2 own
// the whole set, however long the dimension is.
//
// meeting() estimates the costs of walking, of solving and of trying all coordinates, and chooses the cheapest. Nested
// and aligned maps are reduced to the map inside them.

#include "plan/conversion/owner_coordinates.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/int128.hpp"

namespace plait::plan {

namespace {

void sort_unique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Returns the coordinates that own an index of a set, run by run.
std::vector<std::int64_t> walk_runs(const IndexSet& set, const layout::OwnerMap& owner_map) {
  std::vector<std::int64_t> found;
  for (std::int64_t x = set.next(set.begin); x < set.end;) {
    const std::int64_t stop = set.run_end(x);
    const std::vector<std::int64_t> owners = owner_map.owners_in(x, stop);
    found.insert(found.end(), owners.begin(), owners.end());
    // Runs of the set that are inside the last owner's run are skipped.
    x = set.next(owner_map.set(owner_map.owner(stop - 1)).run_end(stop - 1));
  }
  sort_unique(found);
  return found;
}

/// Returns the coordinates of a round robin whose blocks can meet a periodic set: the distances of the block at b*k
/// from the set's runs are multiples of g = gcd of the two strides.
std::vector<std::int64_t> solve_blocks(const IndexSet& set, const layout::BlockOwnerMap& owner_map) {
  std::vector<std::int64_t> found;
  const std::int64_t k = owner_map.block();
  const std::int64_t round = k * owner_map.extent();
  const std::int64_t g = std::gcd(set.stride, round);
  // Adds the owners of all blocks that a run at [begin, begin + length) of a period of the set can overlap.
  const auto meets = [&](std::int64_t begin, std::int64_t length) {
    const std::int64_t phase = ((set.origin % g + owner_map.offset() % g + begin % g) % g + g) % g;
    for (std::int64_t start = phase; start < round + g; start += g)
      for (std::int64_t b = start / k; b <= (start + length - 1) / k; ++b)
        found.push_back(owner_map.block_owner(b % owner_map.extent()));
  };
  if (!set.pattern) {
    meets(0, set.length);
  } else {
    for (const IndexSet::PatternRun& run : *set.pattern) meets(run.begin, run.length);
  }
  sort_unique(found);
  return found;
}

std::vector<std::int64_t> all_coordinates(const layout::OwnerMap& owner_map) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(owner_map.extent()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Returns a * b, or the largest number if the product overflows.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// Sets with at most this number of runs are walked, without an estimate of the costs of other methods.
constexpr std::int64_t kFewRuns = 64;

/// Returns all inner coordinates of the outer ones that meet the set, or walks the set's runs if these are fewer.
std::vector<std::int64_t> meeting_nested(const IndexSet& set, const layout::NestedOwnerMap& owner_map) {
  std::vector<std::int64_t> found;
  const std::vector<std::int64_t> outers = meeting(set, owner_map.outer());
  if (set.runs() <= times(static_cast<std::int64_t>(outers.size()), owner_map.inner_extent()))
    return walk_runs(set, owner_map);
  for (const std::int64_t outer : outers)
    for (std::int64_t inner = 0; inner < owner_map.inner_extent(); ++inner)
      found.push_back(outer * owner_map.inner_extent() + inner);
  return found;
}

/// Returns the coordinates of an aligned map that own an index of the set.  The map assigns index i to the owner of
/// index scale * i + offset of a base map, so each run of the set becomes a stretch of the base.  The gaps in a stretch
/// count as part of it, so coordinates that own only gaps may be found too.
std::vector<std::int64_t> meeting_aligned(const IndexSet& set, const layout::AlignedOwnerMap& owner_map) {
  const std::int64_t scale = owner_map.scale();
  const base::Int128 wide = scale < 0 ? -base::Int128{scale} : base::Int128{scale};
  const base::Int128 stride = wide * set.stride;
  const base::Int128 first =
      base::Int128{scale} * (scale < 0 ? set.at(set.size() - 1) : set.at(0)) + owner_map.offset();
  const base::Int128 last = base::Int128{scale} * (scale < 0 ? set.at(0) : set.at(set.size() - 1)) + owner_map.offset();
  base::Int128 origin = base::Int128{scale} * set.origin + owner_map.offset();
  if (stride > INT64_MAX || origin > INT64_MAX || origin < INT64_MIN) return all_coordinates(owner_map);
  std::vector<Run> runs;
  const auto add = [&](std::int64_t begin, std::int64_t length) {
    const auto span = static_cast<std::int64_t>(wide * (length - 1) + 1);
    runs.push_back({static_cast<std::int64_t>(wide * begin), span});
  };
  if (set.pattern) {
    for (const IndexSet::PatternRun& run : *set.pattern) add(run.begin, run.length);
  } else {
    add(0, set.length);
  }
  const auto period = static_cast<std::int64_t>(stride);
  if (scale < 0) {
    // Reversal maps the period that began at the origin to one that ends there and includes the origin.
    for (Run& run : runs) run.begin = period - (run.begin + run.length);
    std::reverse(runs.begin(), runs.end());
    origin += 1;
  }
  origin -= (origin - first + period - 1) / period * period;
  while (origin > first) origin -= period;
  return meeting(IndexSet::periodic(static_cast<std::int64_t>(origin), period, std::move(runs),
                                    static_cast<std::int64_t>(first), static_cast<std::int64_t>(last) + 1),
                 owner_map.base());
}

}  // namespace

std::vector<std::int64_t> meeting(const IndexSet& set, const layout::OwnerMap& owner_map) {
  if (set.empty()) return {};
  if (set.contiguous()) return owner_map.owners_in(set.begin, set.end);
  const auto* blocks = dynamic_cast<const layout::BlockOwnerMap*>(&owner_map);
  const std::int64_t runs = set.runs();
  // If each coordinate has a single run, the walk skips from one coordinate to the next.
  if (blocks != nullptr && blocks->set(0).contiguous()) return walk_runs(set, owner_map);
  if (blocks == nullptr) {
    if (runs <= kFewRuns) return walk_runs(set, owner_map);
    if (const auto* nested = dynamic_cast<const layout::NestedOwnerMap*>(&owner_map))
      return meeting_nested(set, *nested);
    if (const auto* aligned = dynamic_cast<const layout::AlignedOwnerMap*>(&owner_map))
      return meeting_aligned(set, *aligned);
    return runs <= owner_map.extent() ? walk_runs(set, owner_map) : all_coordinates(owner_map);
  }
  const std::int64_t longest = set.longest_run();
  const std::int64_t round = times(blocks->block(), owner_map.extent());
  const std::int64_t g = round == INT64_MAX ? 1 : std::gcd(set.stride, round);
  const auto in_period = static_cast<std::int64_t>(set.pattern ? set.pattern->size() : 1);
  const std::int64_t solving =
      round == INT64_MAX ? INT64_MAX : times(times(round / g + 1, longest / blocks->block() + 2), in_period);
  // Estimated steps of the three methods: `solving` for solve_blocks(), `walking` for walk_runs(), `trying` for
  // all_coordinates().
  const std::int64_t walking = times(runs, longest / blocks->block() + 1);
  const std::int64_t trying = owner_map.extent();
  if (walking <= std::min(solving, trying)) return walk_runs(set, owner_map);
  return solving < trying ? solve_blocks(set, *blocks) : all_coordinates(owner_map);
}

}  // namespace plait::plan
