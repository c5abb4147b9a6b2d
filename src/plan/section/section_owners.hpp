/// Finds the ranks of a layout that own elements of a section, and the elements that a rank owns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/spans.hpp"
#include "plan/section/section.hpp"

namespace plait::plan {

/// A rank and the number of its elements in an access.
struct RankPart {
  std::int64_t rank = 0;
  std::int64_t elements = 0;
  bool operator==(const RankPart&) const = default;
};

/// A section of an array in a store, and the layout of these elements on ranks.  A value.
///
/// Example: rows 1 and 2 of a 4x6 array in the layout `2x6 (*, cyclic) onto (2)`.  The section has the positions 0 to
/// 11 in file order.  Rank 1 owns the columns 1, 3 and 5: next_owned() of position 6 is 7, and parts({0, 5}) is 3
/// elements of rank 0 and 2 of rank 1.
class SectionOwners {
 public:
  /// layout      Its shape is the section's layout_shape.
  /// fill_halo   The halos of local arrays are read as well; writing ignores it.
  /// errors  kArgument: the layout has another shape than the section.
  SectionOwners(Section section, Layout layout, bool write, bool fill_halo);

  const Section& section() const { return section_; }
  const Layout& layout() const { return layout_; }

  /// Returns the elements of a rank that take part, as products of index sets, one set for each section dimension.
  /// There is one product, or several if a halo wraps around.  Empty if the layout does not have the rank, if the rank
  /// owns nothing, or if another rank writes the same elements.
  std::vector<RankElements> holdings(std::int64_t rank) const;
  /// Returns the strides of a local array, one for each section dimension.
  /// layout_strides  One for each layout dimension.
  Extents local_strides(const Extents& layout_strides) const;
  /// Returns the maximum number of positions of one element in a rank's local array: more than 1 if the halos of a
  /// periodic dimension are filled.
  std::int64_t max_positions() const;
  /// Returns the first position from `position` on that a rank with these index sets owns, or `section().elements`.
  std::int64_t next_owned(const std::vector<IndexSet>& sets, std::int64_t position) const;
  /// Returns the number of elements of a range that a rank with these holdings has.  cost  O(boxes of the range).
  std::int64_t elements(const std::vector<RankElements>& holdings, PositionRange range) const;
  /// Returns the ranks that have elements of a range, ascending, with their numbers of elements.
  /// cost    O(ranks found, and coordinates in each dimension) for each box of the range.
  std::vector<RankPart> parts(PositionRange range) const;

 private:
  /// Coordinates of one layout dimension, each with the number of indices that it owns in a box.
  using Coordinates = std::vector<std::pair<std::int64_t, std::int64_t>>;
  std::vector<Coordinates> coordinates_in(const Box& box) const;
  void append_parts(const Box& box, std::vector<RankPart>& parts) const;

  Section section_;
  Layout layout_;
  bool write_;
  bool fill_halo_;
};

}  // namespace plait::plan
