// Copies between a range of a section and the local array of one rank.
//
// Problem: a window holds the elements of a range of positions, which begins and ends in the middle of rows. A rank
// owns an arbitrary product of index sets. Their common elements must be copied without a list of offsets.
//
// Idea: a range is at most 2N-1 boxes in N dimensions (Section::boxes). In each dimension, the box's interval and the
// rank's index set have a few pieces in common (plan::intersect). One piece of each dimension makes a nest of loops
// with two strides per loop, one for the window (side a) and one for the array (side b), which a copy kernel executes.
//
// Example: 4x6 doubles in C order; the rank owns the columns 1, 3 and 5 in a dense 4x3 array. The window has the
// positions [2, 15). Its boxes are row 0, columns 2-5, at window element 0; row 1 as a whole, at element 4; and row 2,
// columns 0-2, at element 10. In the first box the rank owns the columns 3 and 5: one piece of 2 repeats, 2 columns
// apart in the box and 1 apart in the array. Its nest copies 8 bytes twice, from window bytes 8 and 24 to array bytes 8
// and 16.
//
// Messages have the same elements in the order of boxes, products and loops: in the example 2 elements of row 0, 3 of
// row 1 and 1 of row 2. The order depends on the plan alone and not on strides, so sender and receiver agree without
// headers.

#include "access/window_copier.hpp"

#include <algorithm>
#include <array>

#include "plan/conversion/partners.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::access {

namespace {

using Range = plan::PositionRange;

/// Enough loops for any nest: at most two for each of 32 dimensions.
using Loops = std::array<copy::Loop, 2 * kMaxDimensions>;

/// Local arrays of this size or more are written past the caches, because the rest of them would evict the window.
constexpr std::int64_t kLargeArrayBytes = std::int64_t{4} << 20;

/// Returns the loops of a nest that copy from side a to side b.
std::span<const copy::Loop> a_to_b(const plan::Nest& nest, Loops& loops) {
  for (std::size_t i = 0; i < nest.loops.size(); ++i)
    loops[i] = {nest.loops[i].count, nest.loops[i].a_stride, nest.loops[i].b_stride};
  return {loops.data(), nest.loops.size()};
}

/// Returns the loops of a nest that copy from side b to side a.
std::span<const copy::Loop> b_to_a(const plan::Nest& nest, Loops& loops) {
  for (std::size_t i = 0; i < nest.loops.size(); ++i)
    loops[i] = {nest.loops[i].count, nest.loops[i].b_stride, nest.loops[i].a_stride};
  return {loops.data(), nest.loops.size()};
}

/// Replaces side b of a nest by a dense array in the order of the loops. Returns its size in bytes.
std::int64_t make_b_dense(plan::Nest& nest, std::int64_t element_bytes) {
  std::int64_t stride = element_bytes;
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    nest.loops[i].b_stride = stride;
    stride *= nest.loops[i].count;
  }
  return stride;
}

void swap_sides(plan::Nest& nest) {
  std::swap(nest.a, nest.b);
  for (plan::NestLoop& loop : nest.loops) std::swap(loop.a_stride, loop.b_stride);
}

}  // namespace

WindowCopier::WindowCopier(const plan::AccessPlan& plan, std::int64_t rank)
    : plan_(plan),
      holdings_(plan.owners().holdings(rank)),
      window_strides_(plan::in_bytes(plan::dense_strides(plan.section().shape), plan.element_bytes())),
      no_strides_(plan.section().shape.size(), 0) {
  if (!holdings_.empty() && plan.layout().local_elements(rank) * plan.element_bytes() >= kLargeArrayBytes)
    array_destination_ = copy::Destination::kMemory;
}

template <typename Handler>
void WindowCopier::for_each_product(Range range, const Extents& array_strides, Handler&& handle_nest) const {
  std::vector<plan::Pieces> pieces(plan_.section().shape.size());
  const std::vector<plan::Box> boxes = plan_.section().boxes(range.begin, range.end);
  for (const plan::RankElements& holding : holdings_) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < pieces.size(); ++d) position += holding.positions[d] * array_strides[d];
    for (const plan::Box& box : boxes) {
      bool is_empty = false;
      for (std::size_t d = 0; d < pieces.size() && !is_empty; ++d) {
        pieces[d] = plan::intersect(IndexSet::range(box.lo[d], box.hi[d]), holding.sets[d]);
        is_empty = pieces[d].empty();
      }
      if (is_empty) continue;
      const std::int64_t offset = box.position * plan_.element_bytes();
      const Extents strides_in_part = plan::in_bytes(box.strides, plan_.element_bytes());
      plan::for_each_nest(pieces, box.strides.empty() ? window_strides_ : strides_in_part, array_strides,
                          [&](plan::Nest& nest) {
                            nest.b += position;
                            handle_nest(offset, nest);
                          });
    }
  }
}

void WindowCopier::window_to_array(Range range, const std::byte* window, const copy::LocalArray& array) const {
  Loops loops;
  for_each_product(range, plan_.owners().local_strides(array.strides),
                   [&](std::int64_t offset, const plan::Nest& nest) {
                     copy::strided_copy(array.data + nest.b, window + offset + nest.a, plan_.element_bytes(),
                                        a_to_b(nest, loops), array_destination_);
                   });
}

void WindowCopier::array_to_window(Range range, const copy::LocalArray& array, std::byte* window) const {
  Loops loops;
  for_each_product(
      range, plan_.owners().local_strides(array.strides), [&](std::int64_t offset, const plan::Nest& nest) {
        copy::strided_copy(window + offset + nest.a, array.data + nest.b, plan_.element_bytes(), b_to_a(nest, loops));
      });
}

std::byte* WindowCopier::find_in_array(Range range, const copy::LocalArray& array) const {
  std::byte* begin = nullptr;
  std::int64_t done_bytes = 0;
  bool is_contiguous = true;
  for_each_product(range, plan_.owners().local_strides(array.strides), [&](std::int64_t offset, plan::Nest& nest) {
    std::byte* const address = array.data + nest.b;
    if (done_bytes == 0) begin = address;
    is_contiguous = is_contiguous && offset + nest.a == done_bytes && address == begin + done_bytes;
    done_bytes += plan::take_run(nest, plan_.element_bytes());
    is_contiguous = is_contiguous && nest.loops.empty();
  });
  return is_contiguous ? begin : nullptr;
}

std::int64_t WindowCopier::pack_from_window(Range range, const std::byte* window, std::byte* packed) const {
  Loops loops;
  std::int64_t done_bytes = 0;
  for_each_product(range, no_strides_, [&](std::int64_t offset, plan::Nest nest) {
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(packed + done_bytes, window + offset + nest.a, plan_.element_bytes(), a_to_b(nest, loops));
    done_bytes += bytes;
  });
  return done_bytes;
}

std::int64_t WindowCopier::unpack_to_window(Range range, const std::byte* packed, std::byte* window) const {
  Loops loops;
  std::int64_t done_bytes = 0;
  for_each_product(range, no_strides_, [&](std::int64_t offset, plan::Nest nest) {
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(window + offset + nest.a, packed + done_bytes, plan_.element_bytes(), b_to_a(nest, loops));
    done_bytes += bytes;
  });
  return done_bytes;
}

std::int64_t WindowCopier::unpack_to_array(Range range, const std::byte* packed, const copy::LocalArray& array) const {
  Loops loops;
  std::int64_t done_bytes = 0;
  for_each_product(range, plan_.owners().local_strides(array.strides), [&](std::int64_t, plan::Nest nest) {
    swap_sides(nest);  // side a is the array now, side b the message
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(array.data + nest.a, packed + done_bytes, plan_.element_bytes(), b_to_a(nest, loops));
    done_bytes += bytes;
  });
  return done_bytes;
}

std::int64_t WindowCopier::pack_from_array(Range range, const copy::LocalArray& array, std::byte* packed) const {
  Loops loops;
  std::int64_t done_bytes = 0;
  for_each_product(range, plan_.owners().local_strides(array.strides), [&](std::int64_t, plan::Nest nest) {
    swap_sides(nest);
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(packed + done_bytes, array.data + nest.a, plan_.element_bytes(), a_to_b(nest, loops));
    done_bytes += bytes;
  });
  return done_bytes;
}

std::byte* find_in_arrays(const plan::AccessPlan& plan, std::span<const WindowCopier> copiers,
                          std::span<const copy::LocalArray> arrays, Range range) {
  const std::vector<plan::RankPart> parts = plan.owners().parts(range);
  if (parts.size() != 1 || parts[0].elements != range.size()) return nullptr;
  const auto owned = std::ranges::find(arrays, parts[0].rank, &copy::LocalArray::rank);
  if (owned == arrays.end()) return nullptr;
  return copiers[static_cast<std::size_t>(owned - arrays.begin())].find_in_array(range, *owned);
}

}  // namespace plait::access
