// Expresses ranks as sums of digits of a mixed radix.
//
// Problem: the ranks of a layout's grid positions may come from a grid in any order, from axes that are split or
// joined, or from a list. Equal assignments must have one description.
//
// Idea: the ranks along one dimension, relative to the first one, are split into digits greedily. The digits of all
// dimensions together must form a mixed-radix number; otherwise the ranks are listed.
//
// Example: the ranks of the coordinates 0 to 3 of a dimension are 0, 1, 4, 5. The first stride is 1, which continues
// for 2 values, so the first digit is {weight 1, extent 2, stride 1}. The third value 4 begins the digit {weight 2,
// extent 2, stride 4}. Another dimension must then provide the digit of stride 2.

#include "layout/normal/normal_grid.hpp"

#include <algorithm>
#include <map>

namespace plait::layout {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Returns the digits whose sums are `values`: value number i is the sum for the digits of i, the first digit being
/// the fastest. `values` begins with 0.
std::optional<std::vector<Digit>> find_digits(const std::vector<std::int64_t>& values, int dimension) {
  std::vector<Digit> digits;
  std::size_t product = 1;
  while (product < values.size()) {
    const std::int64_t stride = values[product];
    std::size_t extent = 1;
    while (extent * product < values.size() && values[extent * product] == static_cast<std::int64_t>(extent) * stride)
      ++extent;
    if (stride <= 0 || values.size() % (product * extent) != 0) return std::nullopt;
    for (std::size_t i = product; i < product * extent; ++i)
      if (values[i] != values[i % product] + static_cast<std::int64_t>(i / product) * stride) return std::nullopt;
    digits.push_back({dimension, static_cast<std::int64_t>(product), static_cast<std::int64_t>(extent), stride});
    product *= extent;
  }
  return digits;
}

void sort_by_stride(std::vector<Digit>& digits) {
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.stride > b.stride; });
}

/// Returns true if each stride is the number of values of all smaller digits.  pre: sorted by stride.
bool is_mixed_radix(const std::vector<Digit>& digits) {
  std::int64_t product = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (digit->stride != product) return false;
    product *= digit->extent;
  }
  return true;
}

}  // namespace

std::optional<DigitGrid> axis_digits(const ResolvedLayout& layout) {
  const RankMap& map = layout.map;
  if (map.has_list()) return std::nullopt;
  DigitGrid result;
  for (std::size_t axis = 0; axis < map.grid().size(); ++axis) {
    Digit digit{-1, 1, map.grid()[axis], map.stride(axis)};
    bool is_used = std::find(layout.copied_axes.begin(), layout.copied_axes.end(), static_cast<int>(axis)) !=
                   layout.copied_axes.end();
    for (std::size_t d = 0; d < layout.axes.size(); ++d) {
      std::int64_t weight = 1;
      for (auto dimension_axis = layout.axes[d].rbegin(); dimension_axis != layout.axes[d].rend(); ++dimension_axis) {
        if (*dimension_axis == static_cast<int>(axis)) {
          is_used = true;
          digit.dimension = layout.shape[d] == 0 ? -1 : static_cast<int>(d);
          digit.weight = weight;
        }
        weight *= map.grid()[static_cast<std::size_t>(*dimension_axis)];
      }
    }
    if (!is_used) return std::nullopt;  // pinned: only a part of the ranks belongs to the layout
    if (digit.extent > 1) result.digits.push_back(digit);
  }
  sort_by_stride(result.digits);
  std::vector<Digit> joined;
  for (const Digit& digit : result.digits) {
    const bool joins = !joined.empty() && joined.back().dimension == digit.dimension &&
                       (digit.dimension < 0 || joined.back().weight == digit.weight * digit.extent);
    if (joins) {
      joined.back() = {digit.dimension, digit.weight, joined.back().extent * digit.extent, digit.stride};
    } else {
      joined.push_back(digit);
    }
  }
  std::vector<int> digits_in(layout.shape.size(), 0);
  for (const Digit& digit : joined)
    if (digit.dimension >= 0 && ++digits_in[static_cast<std::size_t>(digit.dimension)] > 1) return std::nullopt;
  result.digits = std::move(joined);
  return result;
}

RankTable::RankTable(const Layout& layout, const ResolvedLayout& resolved, std::vector<Labels> labels)
    : labels_(std::move(labels)), ranks_(resolved.map.ranks()) {
  std::vector<std::vector<std::int64_t>> label_of_coordinate(labels_.size());
  std::int64_t owners = 1;
  for (std::size_t d = 0; d < labels_.size(); ++d) {
    owners *= labels_[d].extent;
    if (resolved.shape[d] == 0) continue;
    label_of_coordinate[d].assign(at(labels_[d].extent), -1);
    for (std::size_t l = 0; l < labels_[d].coordinates.size(); ++l)
      label_of_coordinate[d][at(labels_[d].coordinates[l])] = static_cast<std::int64_t>(l);
  }
  copies_ = static_cast<std::int64_t>(ranks_.size()) / owners;
  table_.reserve(ranks_.size() * labels_.size());
  for (const std::int64_t rank : ranks_) {
    const Extents coordinates = layout.coordinates(rank);
    for (std::size_t d = 0; d < labels_.size(); ++d)
      table_.push_back(label_of_coordinate[d].empty() ? 0 : label_of_coordinate[d][at(coordinates[d])]);
  }
}

std::optional<DigitGrid> RankTable::digits() const {
  // Ranks whose labels are 0 in all dimensions but one give the distances between that dimension's coordinates.
  std::vector<std::vector<std::vector<std::int64_t>>> ranks_by_label(labels_.size());
  std::vector<std::vector<std::int64_t>> unlabelled(labels_.size());
  for (std::size_t d = 0; d < labels_.size(); ++d)
    ranks_by_label[d].resize(std::max<std::size_t>(labels_[d].coordinates.size(), 1));
  std::vector<std::int64_t> first_ranks;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    std::size_t nonzero_labels = 0;
    std::size_t nonzero_dimension = 0;
    for (std::size_t d = 0; d < labels_.size() && nonzero_labels < 2; ++d)
      if (label_at(r, d) != 0) ++nonzero_labels, nonzero_dimension = d;
    if (nonzero_labels == 0) first_ranks.push_back(ranks_[r]);
    if (nonzero_labels != 1) continue;
    const std::int64_t label = label_at(r, nonzero_dimension);
    (label < 0 ? unlabelled[nonzero_dimension] : ranks_by_label[nonzero_dimension][at(label)]).push_back(ranks_[r]);
  }
  const std::int64_t first = first_ranks.front();
  DigitGrid result;
  result.base = first;
  std::vector<std::int64_t> copies;
  for (const std::int64_t rank : first_ranks) copies.push_back(rank - first);
  std::optional<std::vector<Digit>> dimension_digits = find_digits(copies, -1);
  if (!dimension_digits) return std::nullopt;
  result.digits = *dimension_digits;
  for (std::size_t d = 0; d < labels_.size(); ++d) {
    std::vector<std::int64_t> values{0};
    for (std::size_t l = 1; l < ranks_by_label[d].size(); ++l) values.push_back(ranks_by_label[d][l].front() - first);
    const std::vector<std::int64_t> labelled = values;
    std::vector<std::int64_t>& unmatched = unlabelled[d];
    if (copies.size() == 1) {
      for (const std::int64_t rank : unmatched) values.push_back(rank - first);
      unmatched.clear();
    }
    while (!unmatched.empty()) {
      const std::int64_t smallest = unmatched.front();
      values.push_back(smallest - first);
      for (const std::int64_t copy : copies) {
        const auto matching_copy = std::lower_bound(unmatched.begin(), unmatched.end(), smallest + copy);
        if (matching_copy == unmatched.end() || *matching_copy != smallest + copy) return std::nullopt;
        unmatched.erase(matching_copy);
      }
    }
    if (static_cast<std::int64_t>(values.size()) != labels_[d].extent) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::int64_t smallest = values.front();
    result.labels.emplace_back();
    for (const std::int64_t value : labelled)
      result.labels.back().push_back(std::lower_bound(values.begin(), values.end(), value) - values.begin());
    for (std::int64_t& value : values) value -= smallest;
    result.base += smallest;
    dimension_digits = find_digits(values, static_cast<int>(d));
    if (!dimension_digits) return std::nullopt;
    result.digits.insert(result.digits.end(), dimension_digits->begin(), dimension_digits->end());
  }
  sort_by_stride(result.digits);
  if (!is_mixed_radix(result.digits) || !describes_all_ranks(result)) return std::nullopt;
  return result;
}

bool RankTable::describes_all_ranks(const DigitGrid& grid) const {
  std::vector<std::vector<std::int64_t>> label_of_coordinate(labels_.size());
  for (std::size_t d = 0; d < labels_.size(); ++d) {
    label_of_coordinate[d].assign(at(labels_[d].extent), -1);
    for (std::size_t l = 0; l < grid.labels[d].size(); ++l)
      label_of_coordinate[d][at(grid.labels[d][l])] = static_cast<std::int64_t>(l);
  }
  std::vector<std::int64_t> coordinates(labels_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::int64_t number = ranks_[r] - grid.base;
    if (number != static_cast<std::int64_t>(r)) return false;
    std::fill(coordinates.begin(), coordinates.end(), 0);
    for (const Digit& digit : grid.digits)
      if (digit.dimension >= 0)
        coordinates[static_cast<std::size_t>(digit.dimension)] += number / digit.stride % digit.extent * digit.weight;
    for (std::size_t d = 0; d < labels_.size(); ++d)
      if (label_at(r, d) != label_of_coordinate[d][at(coordinates[d])]) return false;
  }
  return true;
}

std::optional<std::vector<Digit>> RankTable::natural_digits(int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  if (static_cast<std::int64_t>(labels_[d].coordinates.size()) != labels_[d].extent) return std::nullopt;
  std::vector<std::int64_t> first_ranks(labels_[d].coordinates.size(), -1);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    bool has_other_labels = false;
    for (std::size_t e = 0; e < labels_.size(); ++e)
      has_other_labels = has_other_labels || (e != d && label_at(r, e) != 0);
    std::int64_t& value = first_ranks[at(label_at(r, d))];
    if (!has_other_labels && value < 0) value = ranks_[r];
  }
  const std::int64_t first = first_ranks[0];
  for (std::int64_t& value : first_ranks) value -= first;
  return find_digits(first_ranks, dimension);
}

Extents RankTable::list_ranks() const {
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> classes;  // maps labels to ranks in ascending order
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    std::vector<std::int64_t> key(labels_.size());
    for (std::size_t d = 0; d < key.size(); ++d) key[d] = label_at(r, d);
    classes[key].push_back(ranks_[r]);
  }
  std::map<std::vector<std::int64_t>, std::size_t> next_copy;
  Extents result;
  std::vector<std::int64_t> coordinates(labels_.size(), 0);
  const std::int64_t positions = static_cast<std::int64_t>(ranks_.size()) / copies_;
  for (std::int64_t p = 0; p < positions; ++p) {
    std::vector<std::int64_t> key = coordinates;
    for (std::size_t d = 0; d < key.size(); ++d)
      if (!labels_[d].coordinates.empty() && key[d] >= static_cast<std::int64_t>(labels_[d].coordinates.size()))
        key[d] = -1;
    for (std::int64_t copy = 0; copy < copies_; ++copy) result.push_back(classes.at(key)[next_copy[key]++]);
    for (std::size_t d = coordinates.size(); d-- > 0;) {
      if (++coordinates[d] < labels_[d].extent) break;
      coordinates[d] = 0;
    }
  }
  return result;
}

}  // namespace plait::layout
