// The formulas of the distributions: from a coordinate to its indices, and from an index to its coordinate.
//
// Problem: `set` and `owner` are called for millions of ranks and for arrays of 10^12 elements, so neither may list
// indices. Every distribution is therefore arithmetic on blocks, and set() returns five numbers (IndexSet).
//
// Example: 10 indices on 3 coordinates.
//   block              blocks of ceil(10/3) = 4:    0..3 | 4..7 | 8..9
//   balanced           10 mod 3 = 1 longer block:   0..3 | 4..6 | 7..9
//   cyclic(2)          block b goes to b mod 3:     0,1,6,7 | 2,3,8,9 | 4,5
//   gen_block(5,0,5)   from prefix sums 0 5 5 10:   0..4 | nothing | 5..9
//   indirect           from the runs of the map, by binary search in one period
// A source and a direction only rename coordinates: block b goes to (source + b) mod p, or (source - b) mod p. An
// offset shifts the array in its template: with offset 2, index 0 of cyclic(2) is template index 2, in block 1.
//
// Two maps are built from others. `cyclic(2)/block` distributes the local positions of each outer coordinate again: on
// 3 x 2 coordinates, outer coordinate 0 owns 0,1,6,7, of which inner coordinate 0 gets the first two positions (0,1)
// and inner coordinate 1 the others (6,7). An aligned map looks index i up at scale*i + offset: with scale 2 and offset
// 1 on the blocks above, index 2 is template index 5, in the second block.

#include "layout/owner_map.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/errors.hpp"

namespace plait::layout {

namespace {

/// Converts an index for std::vector.
std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void sort_unique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void check_gen_block(const Distribution& distribution, std::int64_t size, std::int64_t extent, int dimension) {
  if (static_cast<std::int64_t>(distribution.sizes.size()) != extent)
    base::throw_argument_error("dimension ", dimension, ": gen_block has ", distribution.sizes.size(), " sizes for ",
                               extent, " coordinates; give one size for each");
  std::int64_t sum = 0;
  for (const std::int64_t part : distribution.sizes) {
    if (part < 0) base::throw_argument_error("dimension ", dimension, ": gen_block has the negative size ", part);
    sum = base::checked_add(sum, part, "gen_block sizes");
  }
  if (sum != size)
    base::throw_argument_error("dimension ", dimension, ": the gen_block sizes sum to ", sum,
                               ", but the dimension has ", size, " indices; make the two equal");
}

void check_owners(const Distribution& distribution, std::int64_t size, std::int64_t extent, int dimension) {
  std::int64_t sum = 0;
  for (const OwnerRun& run : distribution.owners) {
    if (run.count < 1)
      base::throw_argument_error("dimension ", dimension, ": indirect has the count ", run.count, "; use 1 or more");
    if (run.owner < 0 || run.owner >= extent)
      base::throw_argument_error("dimension ", dimension, ": indirect names the coordinate ", run.owner,
                                 ", but there are ", extent, " coordinates; use 0 to ", extent - 1);
    sum = base::checked_add(sum, run.count, "indices of an indirect map");
  }
  if (distribution.repeats && sum == 0 && size > 0)
    base::throw_argument_error(
        "dimension ", dimension,
        ": the indirect map has nothing before the ... that could be repeated; list owners first");
  if (!distribution.repeats && sum != size)
    base::throw_argument_error("dimension ", dimension, ": the indirect map has ", sum,
                               " indices, but the dimension has ", size, "; end it with ... to repeat it");
}

/// Checks that the parameters of a distribution fit `size` indices on `extent` coordinates.
void check_parameters(const Distribution& distribution, std::int64_t size, std::int64_t extent, int dimension) {
  switch (distribution.kind) {
    case Distribution::Kind::kBlock: {
      const std::int64_t needed = base::ceil_divide(size, extent);
      if (distribution.block < 0)
        base::throw_argument_error("dimension ", dimension, ": block(", distribution.block, ") has a negative size");
      if (distribution.block != 0 && distribution.block < needed)
        base::throw_argument_error("dimension ", dimension, ": block(", distribution.block, ") on ", extent,
                                   " coordinates holds only ", distribution.block * extent, " of ", size,
                                   " indices; use block(", needed, ") or more");
      return;
    }
    case Distribution::Kind::kCyclic:
      if (distribution.block < 1)
        base::throw_argument_error("dimension ", dimension, ": cyclic(", distribution.block,
                                   ") needs a block of 1 or more");
      return;
    case Distribution::Kind::kGenBlock: return check_gen_block(distribution, size, extent, dimension);
    case Distribution::Kind::kIndirect: return check_owners(distribution, size, extent, dimension);
    default: return;
  }
}

}  // namespace

std::int64_t OwnerMap::longest() const {
  std::int64_t longest_set = 0;
  for (std::int64_t c = 0; c < extent(); ++c) longest_set = std::max(longest_set, set(c).size());
  return longest_set;
}

BlockOwnerMap::BlockOwnerMap(const Distribution& distribution, std::int64_t size, std::int64_t extent, Turn turn,
                             std::int64_t offset)
    : OwnerMap(size, extent), kind_(distribution.kind), turn_(turn), offset_(offset) {
  if (kind_ == Kind::kBlock)
    block_ = distribution.block != 0 ? distribution.block
                                     : std::max<std::int64_t>(base::ceil_divide(template_size(), extent), 1);
  if (kind_ == Kind::kCyclic) block_ = distribution.block;
  if (kind_ == Kind::kGenBlock) {
    auto starts = std::make_shared<Extents>(distribution.sizes.size() + 1, 0);
    std::partial_sum(distribution.sizes.begin(), distribution.sizes.end(), starts->begin() + 1);
    starts_ = std::move(starts);
  }
}

IndexSet BlockOwnerMap::template_indices(std::int64_t first) const {
  const std::int64_t size = template_size();
  switch (kind_) {
    case Kind::kBalanced: {
      const std::int64_t share = size / extent();
      const std::int64_t larger_blocks = size % extent();
      const std::int64_t start = first * share + std::min(first, larger_blocks);
      return IndexSet::range(start, start + share + (first < larger_blocks ? 1 : 0));
    }
    case Kind::kGenBlock: return IndexSet::range((*starts_)[at(first)], (*starts_)[at(first) + 1]);
    case Kind::kBlock:
    case Kind::kCyclic: break;
    default: return IndexSet::range(0, size);
  }
  // Compares by division, because first * block may exceed 2^63 if the coordinate owns nothing.
  if (size == 0 || first > (size - 1) / block_) return IndexSet::range(size, size);
  if (extent() == 1) return IndexSet::range(0, size);
  const std::int64_t start = first * block_;
  const bool has_several_blocks = kind_ == Kind::kCyclic && extent() <= (size - 1) / block_;
  if (has_several_blocks) return IndexSet::blocks(start, block_, block_ * extent(), size);
  return IndexSet::range(start, block_ < size - start ? start + block_ : size);
}

IndexSet BlockOwnerMap::set(std::int64_t coordinate) const {
  const std::int64_t blocks_after_source = turn_.reverse ? turn_.source - coordinate : coordinate - turn_.source;
  const IndexSet blocks =
      template_indices(blocks_after_source < 0 ? blocks_after_source + extent() : blocks_after_source);
  return offset_ == 0 ? blocks : blocks.translate(-offset_).clip(0, size());
}

std::int64_t BlockOwnerMap::block_number(std::int64_t index) const {
  switch (kind_) {
    case Kind::kBlock: return index / block_;
    case Kind::kCyclic: return index / block_ % extent();
    case Kind::kBalanced: {
      const std::int64_t share = template_size() / extent();
      const std::int64_t larger_blocks = template_size() % extent();
      const std::int64_t boundary = larger_blocks * (share + 1);
      return index < boundary ? index / (share + 1) : larger_blocks + (index - boundary) / share;
    }
    case Kind::kGenBlock: return std::upper_bound(starts_->begin(), starts_->end(), index) - starts_->begin() - 1;
    default: return 0;
  }
}

std::int64_t BlockOwnerMap::block_owner(std::int64_t block) const {
  const std::int64_t c = turn_.reverse ? turn_.source - block : turn_.source - extent() + block;
  return c < 0 ? c + extent() : c;
}

std::int64_t BlockOwnerMap::owner(std::int64_t index) const { return block_owner(block_number(index + offset_)); }

std::vector<std::int64_t> BlockOwnerMap::owners_in(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> result;
  if (begin >= end) return result;
  const std::int64_t lo = begin + offset_;
  const std::int64_t hi = end + offset_;
  if (kind_ == Kind::kCyclic) {
    const std::int64_t first = lo / block_;
    const std::int64_t count = std::min((hi - 1) / block_ - first + 1, extent());
    const std::int64_t start = first % extent();
    // The result is in ascending order: the coordinates after the wrap of the round robin come first.
    const std::int64_t wrapped = std::max<std::int64_t>(start + count - extent(), 0);
    result.reserve(at(count));
    for (std::int64_t b = 0; b < wrapped; ++b) result.push_back(b);
    for (std::int64_t b = start; b < start + count - wrapped; ++b) result.push_back(b);
  } else {
    const std::int64_t last = block_number(hi - 1);
    for (std::int64_t b = block_number(lo); b <= last; ++b)
      if (!starts_ || (*starts_)[at(b)] < (*starts_)[at(b) + 1]) result.push_back(b);
  }
  if (turn_.plain()) return result;
  for (std::int64_t& b : result) b = block_owner(b);
  std::sort(result.begin(), result.end());
  return result;
}

std::int64_t BlockOwnerMap::longest() const {
  if (offset_ > 0) return OwnerMap::longest();
  if (!starts_) return template_indices(0).size();  // no block is longer than the first one
  std::int64_t longest_block = 0;
  for (std::size_t b = 1; b < starts_->size(); ++b)
    longest_block = std::max(longest_block, (*starts_)[b] - (*starts_)[b - 1]);
  return longest_block;
}

IndirectOwnerMap::IndirectOwnerMap(const Distribution& distribution, std::int64_t size, std::int64_t extent)
    : OwnerMap(size, extent) {
  std::int64_t begin = 0;
  for (const OwnerRun& run : distribution.owners) {
    if (run.count == 0 || begin >= size) continue;
    const std::int64_t count = std::min(run.count, size - begin);
    if (!runs_.empty() && runs_.back().owner == run.owner) {
      runs_.back().count += count;
    } else {
      runs_.push_back({run.owner, count});
      starts_.push_back(begin);
    }
    begin += count;
  }
  period_ = std::max<std::int64_t>(begin, 1);
  std::vector<std::vector<Run>> runs_by_owner(at(extent));
  for (std::size_t i = 0; i < runs_.size(); ++i)
    runs_by_owner[at(runs_[i].owner)].push_back({starts_[i], runs_[i].count});
  for (std::vector<Run>& runs : runs_by_owner)
    sets_.push_back(runs.empty() ? IndexSet::range(size, size)
                                 : IndexSet::periodic(0, period_, std::move(runs), 0, size));
}

std::int64_t IndirectOwnerMap::owner(std::int64_t index) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), index % period_);
  return runs_[static_cast<std::size_t>(next - starts_.begin()) - 1].owner;
}

std::vector<std::int64_t> IndirectOwnerMap::owners_in(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> result;
  if (begin >= end) return result;
  if (end - begin >= period_) {
    for (const OwnerRun& run : runs_) result.push_back(run.owner);
  } else {
    auto i =
        static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), begin % period_) - starts_.begin()) -
        1;
    std::int64_t x = begin - begin % period_ + starts_[i];
    while (x < end) {
      result.push_back(runs_[i].owner);
      x += runs_[i].count;
      i = (i + 1) % runs_.size();
    }
  }
  sort_unique(result);
  return result;
}

NestedOwnerMap::NestedOwnerMap(OwnerMapPtr outer, Distribution inner, std::int64_t inner_extent)
    : OwnerMap(outer->size(), base::checked_multiply(outer->extent(), inner_extent, "coordinates of a dimension")),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      inner_extent_(inner_extent) {}

OwnerMapPtr NestedOwnerMap::inner_map(std::int64_t positions) const {
  if (inner_.kind == Distribution::Kind::kIndirect)
    return std::make_shared<IndirectOwnerMap>(inner_, positions, inner_extent_);
  return std::make_shared<BlockOwnerMap>(inner_, positions, inner_extent_, Turn{}, 0);
}

IndexSet NestedOwnerMap::set(std::int64_t coordinate) const {
  const IndexSet outer_set = outer_->set(coordinate / inner_extent_);
  return nest(outer_set, inner_map(outer_set.size())->set(coordinate % inner_extent_));
}

std::int64_t NestedOwnerMap::owner(std::int64_t index) const {
  const std::int64_t c = outer_->owner(index);
  const IndexSet outer_set = outer_->set(c);
  return c * inner_extent_ + inner_map(outer_set.size())->owner(outer_set.count_below(index));
}

std::vector<std::int64_t> NestedOwnerMap::owners_in(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> result;
  for (const std::int64_t c : outer_->owners_in(begin, end)) {
    const IndexSet outer_set = outer_->set(c);
    const IndexSet part = outer_set.clip(begin, end);
    if (part.empty()) continue;
    const std::int64_t first = outer_set.count_below(part.at(0));
    for (const std::int64_t i : inner_map(outer_set.size())->owners_in(first, first + part.size()))
      result.push_back(c * inner_extent_ + i);
  }
  return result;
}

AlignedOwnerMap::AlignedOwnerMap(OwnerMapPtr base, std::int64_t size, std::int64_t scale, std::int64_t offset)
    : OwnerMap(size, base->extent()), base_(std::move(base)), scale_(scale), offset_(offset) {}

IndexSet AlignedOwnerMap::set(std::int64_t coordinate) const {
  return preimage(base_->set(coordinate), scale_, offset_, size());
}

std::int64_t AlignedOwnerMap::owner(std::int64_t index) const { return base_->owner(scale_ * index + offset_); }

std::vector<std::int64_t> AlignedOwnerMap::owners_in(std::int64_t begin, std::int64_t end) const {
  if (begin >= end) return {};
  std::vector<std::int64_t> result;
  if (end - begin <= extent()) {
    for (std::int64_t i = begin; i < end; ++i) result.push_back(owner(i));
    sort_unique(result);
    return result;
  }
  const std::int64_t a = scale_ * begin + offset_;
  const std::int64_t b = scale_ * (end - 1) + offset_;
  return base_->owners_in(std::min(a, b), std::max(a, b) + 1);
}

OwnerMapPtr make_owner_map(const Distribution& distribution, const OwnerMapSize& sizes, Turn turn, int dimension) {
  const auto& [size, extents, offset] = sizes;
  using Kind = Distribution::Kind;
  const bool is_indirect = distribution.kind == Kind::kIndirect;
  if (is_indirect && !turn.plain())
    base::throw_argument_error("dimension ", dimension,
                               ": an indirect map names the coordinates itself; leave out source and reverse");
  if (turn.source < 0 || turn.source >= extents[0])
    base::throw_argument_error("dimension ", dimension, ": the source ", turn.source,
                               " is not one of its coordinates 0 to ", extents[0] - 1);
  const std::int64_t template_size = base::checked_add(size, offset, "indices of a template");
  check_parameters(distribution, template_size, extents[0], dimension);
  const bool is_plain = distribution.inner.empty() && !is_indirect;
  if (is_plain) return std::make_shared<BlockOwnerMap>(distribution, size, extents[0], turn, offset);
  OwnerMapPtr owner_map;
  if (is_indirect) {
    owner_map = std::make_shared<IndirectOwnerMap>(distribution, template_size, extents[0]);
  } else {
    owner_map = std::make_shared<BlockOwnerMap>(distribution, template_size, extents[0], turn, 0);
  }
  for (std::size_t level = 0; level < distribution.inner.size(); ++level) {
    const Distribution& inner = distribution.inner[level];
    // Only these distributions have parameters that must fit the number of positions, which differs between
    // coordinates.
    const bool depends_on_size = inner.kind == Kind::kGenBlock || inner.kind == Kind::kIndirect || inner.block != 0;
    for (std::int64_t c = 0; c < (depends_on_size ? owner_map->extent() : 1); ++c)
      check_parameters(inner, owner_map->set(c).size(), extents[level + 1], dimension);
    owner_map = std::make_shared<NestedOwnerMap>(std::move(owner_map), inner, extents[level + 1]);
  }
  if (offset != 0) owner_map = std::make_shared<AlignedOwnerMap>(std::move(owner_map), size, 1, offset);
  return owner_map;
}

}  // namespace plait::layout
