/// Sums over time whose resolution adapts to the length of the trace: a fixed number of bins whose width doubles.
///
/// Example: 4 bins of width 1 hold the sums 5 1 0 2 of the times 0 to 3. An amount of 7 at time 6 needs a width of 2:
/// neighbours are merged to 6 2 0 0, and bin 3 becomes 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

/// One axis with at most `max_cells` cells of equal width, a power of two times the unit.
class Axis {
 public:
  explicit Axis(std::size_t max_cells) : max_cells_(max_cells) {}
  /// Returns how many times the cells must be merged in pairs until `value` >= 0 is on the axis.
  int merges_needed(std::int64_t value) const {
    int merges = 0;
    while (static_cast<std::uint64_t>(value) >> (shift_ + merges) >= max_cells_) ++merges;
    return merges;
  }
  void widen() { ++shift_; }
  std::size_t cell(std::int64_t value) const { return static_cast<std::size_t>(value >> shift_); }
  std::int64_t width() const { return std::int64_t{1} << shift_; }
  std::int64_t begin(std::size_t cell) const { return static_cast<std::int64_t>(cell) << shift_; }
  std::size_t max_cells() const { return max_cells_; }

 private:
  std::size_t max_cells_;
  int shift_ = 0;
};

/// Several sums for each bin, along one axis.
template <typename Value>
class Bins {
 public:
  Bins(std::size_t max_cells, std::size_t series) : axis_(max_cells), sums_(series, std::vector<Value>(max_cells)) {}

  /// Widens the axis to include `position` >= 0, and returns its bin.
  std::size_t reach(std::int64_t position) {
    if (position > last_position_) {
      last_position_ = position;
      while (axis_.merges_needed(position) > 0) widen();
    }
    return axis_.cell(position);
  }
  void add(std::size_t series, std::int64_t position, Value value) {
    add_saturated(sums_[series][reach(position)], value);
  }
  /// Distributes the length of from..to over the bins: adds to each the length within it.
  void cover(std::size_t series, std::int64_t from, std::int64_t to) {
    spread(from, to, [&](std::size_t bin, std::int64_t length) {
      add_saturated(sums_[series][bin], static_cast<Value>(length));
    });
  }
  /// Calls `each` for every bin that from..to touches, with the length within it.
  template <typename Each>
  void spread(std::int64_t from, std::int64_t to, Each&& each) {
    if (to <= from) return;
    reach(to - 1);
    while (from < to) {
      const std::size_t bin = axis_.cell(from);
      const std::int64_t stop = axis_.begin(bin + 1) < to ? axis_.begin(bin + 1) : to;
      each(bin, stop - from);
      from = stop;
    }
  }

  Value& at(std::size_t series, std::size_t bin) { return sums_[series][bin]; }
  const std::vector<Value>& sums(std::size_t series) const { return sums_[series]; }
  std::int64_t width() const { return axis_.width(); }
  /// Number of bins up to the last one in use.
  std::size_t used_bins() const { return last_position_ < 0 ? 0 : axis_.cell(last_position_) + 1; }

 private:
  void widen() {
    for (std::vector<Value>& sums : sums_) {
      const std::size_t half = sums.size() / 2;
      for (std::size_t bin = 0; bin < half; ++bin) sums[bin] = sum_saturated(sums[2 * bin], sums[2 * bin + 1]);
      for (std::size_t bin = half; bin < sums.size(); ++bin) sums[bin] = Value{};
    }
    axis_.widen();
  }

  Axis axis_;
  std::int64_t last_position_ = -1;
  std::vector<std::vector<Value>> sums_;
};

/// One sum for each cell of two axes.
class Grid {
 public:
  Grid(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), sums_(columns * rows) {}

  std::size_t column(std::int64_t position) {
    if (position > last_column_) {
      last_column_ = position;
      while (columns_.merges_needed(position) > 0) widen_columns();
    }
    return columns_.cell(position);
  }
  std::size_t row(std::int64_t position) {
    if (position > last_row_) {
      last_row_ = position;
      while (rows_.merges_needed(position) > 0) widen_rows();
    }
    return rows_.cell(position);
  }
  std::int64_t& cell(std::size_t row, std::size_t column) { return sums_[row * columns_.max_cells() + column]; }
  const Axis& columns() const { return columns_; }
  const Axis& rows() const { return rows_; }
  std::size_t used_columns() const { return last_column_ < 0 ? 0 : columns_.cell(last_column_) + 1; }
  std::size_t used_rows() const { return last_row_ < 0 ? 0 : rows_.cell(last_row_) + 1; }
  /// Returns the used part, row by row, extended to `columns` and `rows`.
  std::vector<std::int64_t> used_cells(std::size_t rows, std::size_t columns) const {
    std::vector<std::int64_t> result;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        result.push_back(sums_[row * columns_.max_cells() + column]);
    return result;
  }

 private:
  void widen_columns() {
    const std::size_t max_cells = columns_.max_cells();
    for (std::size_t row = 0; row < rows_.max_cells(); ++row) {
      std::int64_t* sums = &sums_[row * max_cells];
      for (std::size_t column = 0; column < max_cells; ++column)
        sums[column] = column < max_cells / 2 ? sum_saturated(sums[2 * column], sums[2 * column + 1]) : 0;
    }
    columns_.widen();
  }
  void widen_rows() {
    const std::size_t max_cells = columns_.max_cells();
    for (std::size_t row = 0; row < rows_.max_cells(); ++row)
      for (std::size_t column = 0; column < max_cells; ++column)
        cell(row, column) =
            row < rows_.max_cells() / 2 ? sum_saturated(cell(2 * row, column), cell(2 * row + 1, column)) : 0;
    rows_.widen();
  }

  Axis columns_;
  Axis rows_;
  std::int64_t last_column_ = -1;
  std::int64_t last_row_ = -1;
  std::vector<std::int64_t> sums_;
};

}  // namespace plait::trace::report
