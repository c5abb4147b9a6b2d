/// The canonical assignment of ranks to grid positions: digits of the rank number, or a list of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/resolved_layout.hpp"

namespace plait::layout {

/// A part of a rank number: rank = base + sum of digit * stride, with 0 <= digit < extent.
struct Digit {
  int dimension = -1;       ///< dimension of the array, or -1 for copies
  std::int64_t weight = 1;  ///< weight in the coordinate of that dimension
  std::int64_t extent = 1;
  std::int64_t stride = 1;
  bool operator==(const Digit&) const = default;
};

/// The coordinates of one dimension that own an index, in the order of their first index: label l is coordinates[l].
struct Labels {
  std::int64_t extent = 1;  ///< number of all coordinates
  std::vector<std::int64_t> coordinates;
};

/// The digits of all ranks. `labels[d][l]` is the new coordinate of label l of dimension d: the value of the
/// dimension's digits.
struct DigitGrid {
  std::int64_t base = 0;
  std::vector<Digit> digits;
  std::vector<std::vector<std::int64_t>> labels;
};

/// Returns the digits of a map without a list, with neighbouring digits of one dimension joined; nullopt if the axes
/// of a dimension do not join into one digit. Dimensions without indices and copied axes count as copies.
/// cost  O(axes).
std::optional<DigitGrid> axis_digits(const ResolvedLayout& layout);

/// Finds digits from the ranks alone, independent of the spelling of the layout.
/// cost  O(ranks * dimensions).
class RankTable {
 public:
  /// `labels` has one entry for each dimension; dimensions without indices have an extent of 1.
  RankTable(const Layout& layout, const ResolvedLayout& resolved, std::vector<Labels> labels);

  /// Returns the digits; nullopt if the ranks are not sums of digits.
  std::optional<DigitGrid> digits() const;
  /// Returns digits for which the labels of a dimension are its coordinates 0, 1, ...; nullopt if there are none.
  std::optional<std::vector<Digit>> natural_digits(int dimension) const;
  /// Returns the ranks by the label of each dimension (coordinates without an index come last) and copy, row-major.
  Extents list_ranks() const;
  std::int64_t copies() const { return copies_; }

 private:
  std::int64_t label_at(std::size_t rank, std::size_t dimension) const {
    return table_[rank * labels_.size() + dimension];
  }
  /// Returns true if the digits describe every rank.
  bool describes_all_ranks(const DigitGrid& grid) const;

  std::vector<Labels> labels_;
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> table_;  // label of each rank and dimension, -1 if it owns no index there
  std::int64_t copies_ = 1;
};

}  // namespace plait::layout
