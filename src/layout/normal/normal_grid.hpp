/// The one way to lay ranks out on a grid: digits of the rank number, or a list of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/resolved_layout.hpp"

namespace plait::layout {

/// Part of a rank number: rank = base + sum of digit * step, with 0 <= digit < extent.
struct Digit {
  int dimension = -1;       ///< of the array, or -1 for copies
  std::int64_t weight = 1;  ///< in the coordinate of that dimension
  std::int64_t extent = 1;
  std::int64_t step = 1;
  bool operator==(const Digit&) const = default;
};

/// What is needed of one dimension: the coordinates that own anything, by their first index.
struct Labels {
  std::int64_t extent = 1;
  std::vector<std::int64_t> coordinates;
};

/// Ranks as digits; `labels[d][l]` is the coordinate of label l once the coordinates of a dimension count its digits.
struct DigitGrid {
  std::int64_t base = 0;
  std::vector<Digit> digits;
  std::vector<std::vector<std::int64_t>> labels;
};

/// The digits of a map without a list, with neighbouring ones of one dimension joined; nothing where the axes of a
/// dimension do not join into one digit.  Dimensions of no index and copied axes count as copies.
/// cost  O(axes).
std::optional<DigitGrid> digits_of_axes(const ResolvedLayout& layout);

/// The same from the ranks alone, whatever they were made from.  `natural[d]` asks for labels 0, 1, ... in dimension d.
/// cost  O(ranks * dimensions).
class RankTable {
 public:
  /// `labels` has one entry for each dimension; those of no index have an extent of 1.
  RankTable(const Layout& layout, const ResolvedLayout& resolved, std::vector<Labels> labels);

  /// Nothing where the ranks are no sums of digits.
  std::optional<DigitGrid> digits() const;
  /// Digits under which the labels of a dimension are its coordinates 0, 1, ...; nothing where there are none.
  std::optional<std::vector<Digit>> natural_digits(int dimension) const;
  /// Ranks by label of each dimension (coordinates without an index behind those with one) and copy, row-major.
  Extents list() const;
  std::int64_t copies() const { return copies_; }

 private:
  std::int64_t label_of(std::size_t rank, std::size_t dimension) const {
    return table_[rank * labels_.size() + dimension];
  }
  bool holds(const DigitGrid& grid) const;

  std::vector<Labels> labels_;
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> table_;  // label of each rank and dimension, -1 where it owns nothing there
  std::int64_t copies_ = 1;
};

}  // namespace plait::layout
