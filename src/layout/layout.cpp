#include "plait/layout.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait {

using base::text;

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

std::size_t at(int dimension) { return static_cast<std::size_t>(dimension); }

/// Checks one dealt dimension and returns the block length that its index sets use.
std::int64_t checked_block(const Distribution& distribution, int dimension, std::int64_t size, std::int64_t extent) {
  switch (distribution.kind) {
    case Distribution::Kind::kBlock: {
      const std::int64_t needed = base::ceil_divide(size, extent);
      if (distribution.block < 0)
        refuse(text("dimension ", dimension, ": block(", distribution.block, ") has a negative size"));
      if (distribution.block == 0) return std::max<std::int64_t>(needed, 1);
      if (distribution.block < needed)
        refuse(text("dimension ", dimension, ": block(", distribution.block, ") on ", extent,
                    " coordinates holds only ", distribution.block * extent, " of ", size, " indices; use block(",
                    needed, ") or more"));
      return distribution.block;
    }
    case Distribution::Kind::kCyclic:
      if (distribution.block < 1)
        refuse(text("dimension ", dimension, ": cyclic(", distribution.block, ") needs a block of 1 or more"));
      return distribution.block;
    case Distribution::Kind::kGenBlock: {
      if (static_cast<std::int64_t>(distribution.sizes.size()) != extent)
        refuse(text("dimension ", dimension, ": gen_block has ", distribution.sizes.size(), " sizes for ", extent,
                    " coordinates; give one size for each"));
      std::int64_t sum = 0;
      for (const std::int64_t part : distribution.sizes) {
        if (part < 0) refuse(text("dimension ", dimension, ": gen_block has the negative size ", part));
        sum = base::checked_add(sum, part, "gen_block sizes");
      }
      if (sum != size)
        refuse(text("dimension ", dimension, ": the gen_block sizes sum to ", sum, ", but the dimension has ", size,
                    " indices"));
      return 0;
    }
    default: return 0;
  }
}

}  // namespace

Layout::Layout(Extents shape, std::vector<Distribution> distributions, Extents grid, Order ranks, Order order)
    : shape_(std::move(shape)),
      distributions_(std::move(distributions)),
      grid_(std::move(grid)),
      ranks_(ranks),
      order_(order) {
  if (shape_.size() > kMaxDimensions)
    refuse(text("the shape has ", shape_.size(), " dimensions; at most ", kMaxDimensions, " are supported"));
  if (distributions_.size() != shape_.size())
    refuse(text("the shape ", shape_to_string(shape_), " has ", shape_.size(), " dimensions, but ",
                distributions_.size(), " distributions were given; give one for each dimension"));
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (shape_[d] < 0) refuse(text("dimension ", d, " has the negative size ", shape_[d]));
  elements_ = base::checked_product(shape_, "number of elements");

  const auto dealt = static_cast<std::size_t>(std::count_if(
      distributions_.begin(), distributions_.end(), [](auto& d) { return d.kind != Distribution::Kind::kCollapsed; }));
  if (grid_.size() != dealt)
    refuse(text("the grid ", base::tuple_text(grid_), " has ", grid_.size(), " dimensions, but ", dealt,
                " dimensions of the array are dealt; give one grid extent for each that is not *"));
  for (const std::int64_t extent : grid_)
    if (extent < 1) refuse(text("the grid ", base::tuple_text(grid_), " has an extent below 1"));
  size_ = base::checked_product(grid_, "number of ranks");

  Extents steps(grid_.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    const std::size_t g = ranks_ == Order::kC ? grid_.size() - 1 - i : i;
    steps[g] = step;
    step *= grid_[g];
  }
  per_dimension_.resize(shape_.size());
  std::size_t g = 0;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    const Distribution& distribution = distributions_[d];
    if (distribution.kind == Distribution::Kind::kCollapsed) continue;
    Dimension& dimension = per_dimension_[d];
    dimension.extent = grid_[g];
    dimension.step = steps[g++];
    dimension.block = checked_block(distribution, static_cast<int>(d), shape_[d], dimension.extent);
    if (distribution.kind == Distribution::Kind::kGenBlock) {
      auto starts = std::make_shared<Extents>(distribution.sizes.size() + 1, 0);
      std::partial_sum(distribution.sizes.begin(), distribution.sizes.end(), starts->begin() + 1);
      dimension.starts = std::move(starts);
    }
  }
}

Extents Layout::coordinates(std::int64_t rank) const {
  if (rank < 0 || rank >= size_) refuse(text("there is no rank ", rank, "; the layout has the ranks 0 to ", size_ - 1));
  Extents result(shape_.size(), 0);
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (per_dimension_[d].step > 0) result[d] = rank / per_dimension_[d].step % per_dimension_[d].extent;
  return result;
}

std::int64_t Layout::rank_at(std::span<const std::int64_t> coordinates) const {
  std::int64_t rank = 0;
  for (std::size_t d = 0; d < shape_.size(); ++d) rank += coordinates[d] * per_dimension_[d].step;
  return rank;
}

IndexSet Layout::index_set(int dimension, std::int64_t coordinate) const {
  const std::int64_t size = shape_[at(dimension)];
  const Dimension& dealt = per_dimension_[at(dimension)];
  switch (distributions_[at(dimension)].kind) {
    case Distribution::Kind::kCollapsed: return IndexSet::range(0, size);
    case Distribution::Kind::kBalanced: {
      const std::int64_t share = size / dealt.extent;
      const std::int64_t more = size % dealt.extent;
      const std::int64_t start = coordinate * share + std::min(coordinate, more);
      return IndexSet::range(start, start + share + (coordinate < more ? 1 : 0));
    }
    case Distribution::Kind::kGenBlock:
      return IndexSet::range((*dealt.starts)[static_cast<std::size_t>(coordinate)],
                             (*dealt.starts)[static_cast<std::size_t>(coordinate) + 1]);
    case Distribution::Kind::kBlock:
    case Distribution::Kind::kCyclic: break;
  }
  // Compared by division, because coordinate * block may pass 2^63 where the coordinate owns nothing.
  if (size == 0 || coordinate > (size - 1) / dealt.block) return IndexSet::range(size, size);
  const std::int64_t start = coordinate * dealt.block;
  const bool wraps = distributions_[at(dimension)].kind == Distribution::Kind::kCyclic &&
                     dealt.extent <= (size - 1) / dealt.block && dealt.extent > 1;
  if (wraps) return IndexSet::blocks(start, dealt.block, dealt.block * dealt.extent, size);
  if (dealt.extent == 1) return IndexSet::range(0, size);
  return IndexSet::range(start, dealt.block < size - start ? start + dealt.block : size);
}

std::vector<IndexSet> Layout::index_sets(std::int64_t rank) const {
  const Extents place = coordinates(rank);
  std::vector<IndexSet> result;
  result.reserve(shape_.size());
  for (int d = 0; d < dimensions(); ++d) result.push_back(index_set(d, place[at(d)]));
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

std::int64_t Layout::owner(int dimension, std::int64_t index) const {
  const Dimension& dealt = per_dimension_[at(dimension)];
  switch (distributions_[at(dimension)].kind) {
    case Distribution::Kind::kCollapsed: return 0;
    case Distribution::Kind::kBlock: return index / dealt.block;
    case Distribution::Kind::kCyclic: return index / dealt.block % dealt.extent;
    case Distribution::Kind::kBalanced: {
      const std::int64_t share = shape_[at(dimension)] / dealt.extent;
      const std::int64_t more = shape_[at(dimension)] % dealt.extent;
      const std::int64_t front = more * (share + 1);
      return index < front ? index / (share + 1) : more + (index - front) / share;
    }
    case Distribution::Kind::kGenBlock: {
      const Extents& starts = *dealt.starts;
      return std::upper_bound(starts.begin(), starts.end(), index) - starts.begin() - 1;
    }
  }
  return 0;
}

std::vector<std::int64_t> Layout::owners_in(int dimension, std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> result;
  if (begin >= end) return result;
  const Dimension& dealt = per_dimension_[at(dimension)];
  if (distributions_[at(dimension)].kind == Distribution::Kind::kCyclic) {
    const std::int64_t first = begin / dealt.block;
    const std::int64_t count = std::min((end - 1) / dealt.block - first + 1, dealt.extent);
    const std::int64_t start = first % dealt.extent;
    // Ascending: the coordinates that the round robin reaches after its wrap come first.
    const std::int64_t wrapped = std::max<std::int64_t>(start + count - dealt.extent, 0);
    result.reserve(static_cast<std::size_t>(count));
    for (std::int64_t c = 0; c < wrapped; ++c) result.push_back(c);
    for (std::int64_t c = start; c < start + count - wrapped; ++c) result.push_back(c);
    return result;
  }
  const std::int64_t last = owner(dimension, end - 1);
  for (std::int64_t c = owner(dimension, begin); c <= last; ++c)
    if (!dealt.starts ||
        (*dealt.starts)[static_cast<std::size_t>(c)] < (*dealt.starts)[static_cast<std::size_t>(c) + 1])
      result.push_back(c);
  return result;
}

std::int64_t Layout::owner(std::span<const std::int64_t> index) const {
  if (index.size() != shape_.size())
    refuse(text("the index ", base::tuple_text(index), " has ", index.size(), " entries for an array of ",
                shape_.size(), " dimensions"));
  std::int64_t rank = 0;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape_[d])
      refuse(text("the index ", base::tuple_text(index), " lies outside the array ", shape_to_string(shape_)));
    rank += owner(static_cast<int>(d), index[d]) * per_dimension_[d].step;
  }
  return rank;
}

Extents Layout::to_local(std::span<const std::int64_t> index, std::int64_t rank) const {
  const std::int64_t holder = owner(index);
  if (rank != holder)
    refuse(text("rank ", rank, " does not own the element ", base::tuple_text(index), "; rank ", holder, " does"));
  const std::vector<IndexSet> sets = index_sets(rank);
  Extents local(shape_.size());
  for (std::size_t d = 0; d < shape_.size(); ++d) local[d] = sets[d].rank_of(index[d]);
  return local;
}

Extents Layout::to_global(std::span<const std::int64_t> local, std::int64_t rank) const {
  const std::vector<IndexSet> sets = index_sets(rank);
  bool inside = local.size() == shape_.size();
  for (std::size_t d = 0; inside && d < shape_.size(); ++d) inside = local[d] >= 0 && local[d] < sets[d].size();
  if (!inside)
    refuse(text("the local index ", base::tuple_text(local), " lies outside the local array ",
                base::tuple_text(local_shape(rank)), " of rank ", rank));
  Extents index(shape_.size());
  for (std::size_t d = 0; d < shape_.size(); ++d) index[d] = sets[d].at(local[d]);
  return index;
}

}  // namespace plait
