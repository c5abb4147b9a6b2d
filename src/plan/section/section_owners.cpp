// Owners of a section: the ranks that hold an element, and the elements that a rank holds.
//
// A rank owns a product of index sets, and a range of positions is a few boxes.  The dimensions are independent: the
// elements of a rank in a box are the product of the indices that it owns in each dimension, and the ranks in a box are
// all combinations of the coordinates that own an index in each dimension.  So no list of elements is needed.
//
// Example: positions [2, 15) of a 4x6 array in `4x6 (*, cyclic) onto (2)`.  The boxes are row 0 with the columns 2 to
// 5, row 1, and row 2 with the columns 0 to 2.  Coordinate 0 owns 2, 3 and 2 of their columns and coordinate 1 owns 2,
// 3 and 1.  So rank 0 has 7 and rank 1 has 6 of the 13 elements.

#include "plan/section/section_owners.hpp"

#include <algorithm>
#include <limits>

#include "plan/conversion/partners.hpp"

namespace plait::plan {

SectionOwners::SectionOwners(Section section, Layout layout, bool write, bool fill_halo)
    : section_(std::move(section)), layout_(std::move(layout)), write_(write), fill_halo_(fill_halo && !write) {
  section_.check_layout(layout_);
}

std::vector<RankElements> SectionOwners::holdings(std::int64_t rank) const {
  if (!layout_.has_rank(rank) || (write_ && layout_.replica(rank) != 0)) return {};
  std::vector<RankElements> result;
  for (const RankElements& in_layout : plan::holdings(layout_, rank, fill_halo_)) {
    RankElements& in_section = result.emplace_back();
    for (const int d : section_.layout_dimension) {
      in_section.sets.push_back(d < 0 ? IndexSet::range(0, 1) : in_layout.sets[static_cast<std::size_t>(d)]);
      in_section.positions.push_back(d < 0 ? 0 : in_layout.positions[static_cast<std::size_t>(d)]);
    }
  }
  return result;
}

Extents SectionOwners::local_strides(const Extents& layout_strides) const {
  Extents result;
  for (const int d : section_.layout_dimension)
    result.push_back(d < 0 ? 0 : layout_strides[static_cast<std::size_t>(d)]);
  return result;
}

std::int64_t SectionOwners::max_positions() const {
  std::int64_t max = 1;
  if (fill_halo_)
    for (int d = 0; d < layout_.dimensions(); ++d)
      if (layout_.periodic(d) && layout_.halo(d) != Halo{}) max *= 3;  // the block and the halo at either end
  return max;
}

std::int64_t SectionOwners::elements(const std::vector<RankElements>& holdings, PositionRange range) const {
  std::int64_t sum = 0;
  const std::vector<Box> boxes = section_.boxes(range.begin, range.end);
  for (const RankElements& holding : holdings)
    for (const Box& box : boxes) {
      std::int64_t product = 1;
      for (std::size_t d = 0; d < holding.sets.size(); ++d)
        product *= holding.sets[d].clip(box.lo[d], box.hi[d]).size();
      sum += product;
    }
  return sum;
}

std::vector<SectionOwners::Coordinates> SectionOwners::coordinates_in(const Box& box) const {
  std::vector<Coordinates> result(section_.layout_shape.size());
  for (std::size_t d = 0; d < section_.shape.size(); ++d) {
    const int dimension = section_.layout_dimension[d];
    if (dimension < 0) continue;
    const IndexSet range = IndexSet::range(box.lo[d], box.hi[d]);
    for (const std::int64_t coordinate : coordinates_meeting(range, layout_, dimension, fill_halo_)) {
      std::int64_t indices = 0;
      for (const Span& span : spans(layout_, dimension, coordinate, fill_halo_))
        indices += span.set.clip(range.begin, range.end).size();
      if (indices > 0) result[static_cast<std::size_t>(dimension)].emplace_back(coordinate, indices);
    }
  }
  return result;
}

void SectionOwners::append_parts(const Box& box, std::vector<RankPart>& parts) const {
  const std::int64_t replicas = write_ ? 1 : layout_.replicas();
  const std::vector<Coordinates> coordinates = coordinates_in(box);
  std::size_t total = 1;
  for (const Coordinates& of_dimension : coordinates) total *= of_dimension.size();
  std::vector<std::size_t> entry(coordinates.size(), 0);
  Extents position(coordinates.size());
  for (std::size_t n = 0; n < total; ++n) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      position[d] = coordinates[d][entry[d]].first;
      elements *= coordinates[d][entry[d]].second;
    }
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      parts.push_back({layout_.rank_at(position, replica), elements});
    for (std::size_t d = coordinates.size(); d-- > 0;) {
      if (++entry[d] < coordinates[d].size()) break;
      entry[d] = 0;
    }
  }
}

std::vector<RankPart> SectionOwners::parts(PositionRange range) const {
  std::vector<RankPart> result;
  for (const Box& box : section_.boxes(range.begin, range.end)) append_parts(box, result);
  std::ranges::sort(result, {}, &RankPart::rank);
  std::size_t ranks = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (ranks > 0 && result[ranks - 1].rank == result[i].rank) {
      result[ranks - 1].elements += result[i].elements;
    } else {
      result[ranks++] = result[i];
    }
  }
  result.resize(ranks);
  return result;
}

namespace {

/// Returns the first position of a chunk's part from `position` on whose element is in the sets, or the part's size.
std::int64_t next_in_part(const std::vector<IndexSet>& sets, const ChunkPart& part, std::int64_t position) {
  return next_in_product(part.shape, position, [&](std::size_t d, std::int64_t index) {
    const std::int64_t member = sets[d].next(part.lo[d] + index);
    return member < sets[d].end ? member - part.lo[d] : part.shape[d];
  });
}

/// Returns the first position of the section from `position` on whose element is in the sets, or the section's size.
std::int64_t next_in_chunks(const std::vector<IndexSet>& sets, const Chunks& chunks, std::int64_t position) {
  std::int64_t number = chunks.number_at(position);
  const ChunkPart first = chunks.part(number);
  const std::int64_t in_first = next_in_part(sets, first, position - first.position);
  if (in_first < first.elements) return first.position + in_first;
  number = chunks.next_wanted(number + 1, [&](std::size_t d, std::int64_t index) {
    const std::int64_t member = sets[d].next(index);
    return member < sets[d].end ? member : std::numeric_limits<std::int64_t>::max();
  });
  if (number == chunks.count()) return chunks.first_position(number);
  const ChunkPart part = chunks.part(number);
  return part.position + next_in_part(sets, part, 0);
}

}  // namespace

std::int64_t SectionOwners::next_owned(const std::vector<IndexSet>& sets, std::int64_t position) const {
  for (const IndexSet& set : sets)
    if (set.empty()) return section_.elements;
  if (position >= section_.elements) return section_.elements;
  if (section_.chunks) return next_in_chunks(sets, *section_.chunks, position);
  return next_in_product(section_.shape, position, [&](std::size_t d, std::int64_t index) {
    const std::int64_t member = sets[d].next(index);
    return member < sets[d].end ? member : section_.shape[d];
  });
}

}  // namespace plait::plan
