// Finds the bit permutation of a layout.
//
// Idea: if rank and position are permuted bits of the element's number, the elements with a single bit set determine
// the permutation. The layout is queried for these elements only. The result is then verified by constructing the
// layout of powers of two with these bits and comparing both as layouts. Single elements are examined only for an
// error message.
//
// Example: 8 elements, `cyclic(2)` onto 2 ranks. Element 1 is at position 1 of rank 0, element 2 at position 0 of
// rank 1, and element 4 at position 2 of rank 0. So the rank is bit 1 of the number, and the position consists of the
// bits 2 and 0.

#include <algorithm>
#include <bit>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/bit_permutation.hpp"

namespace plait {

using base::text;

namespace {

/// Maximum number of indices of a dimension that are examined for an error message.
constexpr std::int64_t kMaxInspectedIndices = 4096;

std::size_t at(int number) { return static_cast<std::size_t>(number); }

bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

int exact_log2(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

[[noreturn]] void throw_no_permutation(const Layout& layout, const std::string& reason) {
  base::throw_argument_error("the layout ", to_string(layout), " is not a permutation of bits: ", reason);
}

/// One bit of an index.
struct IndexBit {
  int dimension = 0;
  int bit = 0;
};

std::string order_text(const Layout& layout) {
  std::string text;
  for (const int d : layout.order()) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return text.empty() ? "" : " order=(" + text + ')';
}

/// Checks that all sizes are powers of two and that each element is on one rank.  errors  kArgument.
void check_sizes(const Layout& layout) {
  for (int d = 0; d < layout.dimensions(); ++d)
    if (const std::int64_t size = layout.shape()[at(d)]; !is_power_of_two(size))
      throw_no_permutation(layout, text("dimension ", d, " has the size ", size, ", which is not a power of two"));
  if (!is_power_of_two(layout.size())) {
    for (int d = 0; d < layout.dimensions(); ++d)
      if (const std::int64_t extent = layout.coordinates_in(d); !is_power_of_two(extent))
        throw_no_permutation(layout, text("dimension ", d, " is distributed over ", extent,
                                          " coordinates, which is not a power of two"));
    throw_no_permutation(layout, text("it has ", layout.size(), " ranks, which is not a power of two"));
  }
  if (layout.replicas() > 1)
    throw_no_permutation(layout,
                         text("its ", layout.size(), " ranks hold ", layout.replicas(), " copies of the array"));
  if (layout.ranks_end() != layout.size())
    throw_no_permutation(layout, text("its ", layout.size(), " ranks go up to ", layout.ranks_end() - 1,
                                      "; they must be 0 to ", layout.size() - 1));
  if (layout.has_halo())
    throw_no_permutation(
        layout, text("it has a halo: the local array ", shape_to_string(layout.padded_shape(0)),
                     " of rank 0 is larger than what the rank owns, ", shape_to_string(layout.local_shape(0))));
}

/// Returns the rank and position of an element.
UnitPosition find_position(const Layout& layout, const Extents& index) {
  const std::int64_t rank = layout.owner(index);
  const Extents local = layout.to_local(index, rank);
  const Extents shape = layout.local_shape(rank);
  std::int64_t local_position = 0;
  for (const int d : layout.order()) local_position = local_position * shape[at(d)] + local[at(d)];
  return {rank, local_position};
}

/// Spells the layout that distributes these bits of indices, most significant first, to the ranks. `cyclic(2^b)` onto
/// 2^w coordinates distributes the w bits from b on, and the local positions consist of the other bits.
std::string spell_bits(const Layout& layout, const std::vector<IndexBit>& unit) {
  /// A grid axis: `width` bits of a dimension from bit `lowest` on.
  struct Axis {
    int dimension;
    int lowest;
    int width;
    int number;  // of the axis in the grid
  };
  std::vector<Axis> axes;
  for (const IndexBit& index_bit : unit) {
    if (!axes.empty() && axes.back().dimension == index_bit.dimension && axes.back().lowest == index_bit.bit + 1) {
      --axes.back().lowest;
      ++axes.back().width;
    } else {
      axes.push_back({index_bit.dimension, index_bit.bit, 1, static_cast<int>(axes.size())});
    }
  }
  std::string grid;
  for (const Axis& axis : axes) grid += text(grid.empty() ? "" : ", ", std::int64_t{1} << axis.width);
  // A distribution of upper bits comes before one of lower bits in the same dimension, so that the lower bits do not
  // change their numbers.
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return a.dimension != b.dimension ? a.dimension < b.dimension : a.lowest > b.lowest;
  });
  bool needs_axis_names = false;
  for (std::size_t i = 0; i < axes.size(); ++i)
    needs_axis_names = needs_axis_names || axes[i].number != static_cast<int>(i) ||
                       (i > 0 && axes[i].dimension == axes[i - 1].dimension);
  std::string dist;
  std::size_t next_axis = 0;
  for (int d = 0; d < layout.dimensions(); ++d) {
    std::string stages;
    for (; next_axis < axes.size() && axes[next_axis].dimension == d; ++next_axis)
      stages += text(stages.empty() ? "" : "/", "cyclic(", std::int64_t{1} << axes[next_axis].lowest, ")",
                     needs_axis_names ? text("@", axes[next_axis].number) : "");
    dist += text(d == 0 ? "" : ", ", stages.empty() ? "*" : stages);
  }
  return text("(", dist, ")", grid.empty() ? "" : text(" onto (", grid, ")"), order_text(layout));
}

/// Throws an error that names an index at which both layouts differ, if one of the first kMaxInspectedIndices indices
/// of a dimension does.
[[noreturn]] void throw_different(const Layout& layout, const Layout& candidate) {
  for (int d = 0; d < layout.dimensions(); ++d) {
    Extents index(at(layout.dimensions()), 0);
    const std::int64_t size = layout.shape()[at(d)];
    for (std::int64_t i = 0; i < std::min(size, kMaxInspectedIndices); ++i) {
      index[at(d)] = i;
      const std::int64_t actual = layout.owner(index);
      const std::int64_t expected = candidate.owner(index);
      if (actual != expected)
        throw_no_permutation(layout, text("in dimension ", d, " of size ", size, ", index ", i, " is on rank ", actual,
                                          ", but by its bits it would be on rank ", expected));
    }
  }
  throw_no_permutation(
      layout, text("its ranks are not as in ", to_string(candidate), ", where the elements of single bits agree"));
}

}  // namespace

BitPermutation bit_permutation(const Layout& layout, Order order) {
  check_sizes(layout);
  Extents index(at(layout.dimensions()), 0);
  if (const UnitPosition first = find_position(layout, index); first != UnitPosition{})
    throw_no_permutation(layout, text("element 0 is at position ", first.position, " of rank ", first.unit,
                                      "; it must be the first one of rank 0"));
  // The bits of an element's number, least significant first.
  std::vector<IndexBit> bits;
  for (int i = 0; i < layout.dimensions(); ++i) {
    const int d = order == Order::kC ? layout.dimensions() - 1 - i : i;
    for (int b = 0; b < exact_log2(layout.shape()[at(d)]); ++b) bits.push_back({d, b});
  }
  const int unit_bits = exact_log2(layout.size());
  std::vector<int> unit(at(unit_bits), -1);
  std::vector<int> position(at(std::max(static_cast<int>(bits.size()) - unit_bits, 0)), -1);
  for (std::size_t k = 0; k < bits.size(); ++k) {
    const auto [d, b] = bits[k];
    index[at(d)] = std::int64_t{1} << b;
    const UnitPosition location = find_position(layout, index);
    index[at(d)] = 0;
    std::vector<int>& part = location.unit != 0 ? unit : position;
    const std::int64_t number = location.unit != 0 ? location.unit : location.position;
    const bool is_single_bit = is_power_of_two(number) && (location.unit == 0 || location.position == 0);
    const bool is_unused =
        is_single_bit && at(exact_log2(number)) < part.size() && part[part.size() - 1 - at(exact_log2(number))] < 0;
    if (!is_unused)
      throw_no_permutation(
          layout, text("in dimension ", d, " of size ", layout.shape()[at(d)], ", index ", std::int64_t{1} << b,
                       " is at position ", location.position, " of rank ", location.unit,
                       ", but it must be one bit of the rank or the position, and another one for each such index"));
    part[part.size() - 1 - at(exact_log2(number))] = static_cast<int>(k);
  }
  if (std::count(unit.begin(), unit.end(), -1) > 0)
    throw_no_permutation(
        layout, text("it has ", layout.size(), " ranks for ", layout.elements(), " elements, so some ranks are empty"));
  std::vector<IndexBit> distributed;
  for (const int k : unit) distributed.push_back(bits[at(k)]);
  const Layout candidate = Layout::parse(spell_bits(layout, distributed), layout.shape());
  if (candidate != layout) throw_different(layout, candidate);
  return {std::move(unit), std::move(position)};
}

}  // namespace plait
