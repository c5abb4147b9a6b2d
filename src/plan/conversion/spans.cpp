// The indices of one coordinate of a dimension with their positions in the padded local array.
//
// The padded array has halo.lo positions, then the coordinate's own indices, then halo.hi positions. At the ends of the
// dimension a halo is cut off or, if the dimension is periodic, wraps around, which adds a span for each end.
//
// Example: 10 indices, block onto 3 (blocks of 4), halo 2:2, periodic. Coordinate 0 owns 0-3 in a padded array of 8.
// The lower halo has no index before 0, so the main span is 0-5 from position 2 on, and the span 8-9 is at position 0.
// Without periodicity, positions 0 and 1 stay unused.

#include "plan/conversion/spans.hpp"

#include <algorithm>
#include <numeric>

#include "plan/conversion/partners.hpp"

namespace plait::plan {

std::vector<Span> spans(const Layout& layout, int dimension, std::int64_t coordinate, bool fill_halo) {
  IndexSet own = layout.index_set(dimension, coordinate);
  const Halo halo = layout.halo(dimension);
  if (own.empty()) return {};
  if (!fill_halo || halo == Halo{}) return {{std::move(own), halo.lo}};
  const std::int64_t size = layout.shape()[static_cast<std::size_t>(dimension)];
  const std::int64_t begin = own.at(0);
  const std::int64_t end = begin + own.size();
  // The parts of the halo that do not reach beyond the ends of the dimension.
  const std::int64_t before = std::min(halo.lo, begin);
  const std::int64_t back = std::min(halo.hi, size - end);
  std::vector<Span> result{{IndexSet::range(begin - before, end + back), halo.lo - before}};
  if (!layout.periodic(dimension)) return result;
  const std::int64_t wrapped_before = halo.lo - before;
  if (wrapped_before > 0) result.push_back({IndexSet::range(size - wrapped_before, size), 0});
  const std::int64_t wrapped_after = halo.hi - back;
  if (wrapped_after > 0) result.push_back({IndexSet::range(0, wrapped_after), halo.lo + own.size() + back});
  return result;
}

std::vector<std::int64_t> coordinates_meeting(const IndexSet& set, const Layout& layout, int dimension,
                                              bool fill_halo) {
  const Halo halo = layout.halo(dimension);
  if (!fill_halo || halo == Halo{} || set.empty()) return partners(set, layout, dimension);
  const std::int64_t extent = layout.coordinates_in(dimension);
  std::vector<std::int64_t> found;
  // To return all coordinates is cheaper than to look up the owners of so many runs.
  if (set.runs() > extent) {
    found.resize(static_cast<std::size_t>(extent));
    std::iota(found.begin(), found.end(), 0);
    return found;
  }
  const std::int64_t size = layout.shape()[static_cast<std::size_t>(dimension)];
  // Adds the owners of the indices [begin, end) that are inside the dimension.
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    const auto owners = layout.owners_in(dimension, std::max<std::int64_t>(begin, 0), std::min(end, size));
    found.insert(found.end(), owners.begin(), owners.end());
  };
  for (std::int64_t x = set.next(set.begin); x < set.end;) {  // x: the first index of a run of the set
    const std::int64_t stop = set.run_end(x);
    const std::int64_t begin = x - halo.hi;  // a block that ends here has x in its upper halo
    const std::int64_t end = stop + halo.lo;
    add(begin, end);
    if (layout.periodic(dimension)) {
      if (begin < 0) add(size + begin, size);
      if (end > size) add(0, end - size);
    }
    x = set.next(stop);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<RankElements> holdings(const Layout& layout, std::int64_t rank, bool fill_halo) {
  const Extents coordinates = layout.coordinates(rank);
  std::vector<RankElements> result(1);
  for (int d = 0; d < layout.dimensions(); ++d) {
    std::vector<RankElements> longer;
    for (const Span& span : spans(layout, d, coordinates[static_cast<std::size_t>(d)], fill_halo))
      for (RankElements holding : result) {
        holding.sets.push_back(span.set);
        holding.positions.push_back(span.position);
        longer.push_back(std::move(holding));
      }
    result = std::move(longer);
  }
  return result;
}

}  // namespace plait::plan
