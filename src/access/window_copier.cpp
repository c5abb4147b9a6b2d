#include "access/window_copier.hpp"

#include <array>

#include "plan/conversion/partners.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::access {

namespace {

using Range = plan::PositionRange;

/// A nest of at most two loops for each of 32 dimensions.
using Loops = std::array<copy::Loop, 2 * kMaxDimensions>;

/// Local arrays from this size on pass the caches: the rest of them would have pushed out what was just distributed.
constexpr std::int64_t kLargeArray = std::int64_t{4} << 20;

/// The nest as it stands: side a is copied to side b.
std::span<const copy::Loop> a_to_b(const plan::Nest& nest, Loops& loops) {
  for (std::size_t i = 0; i < nest.loops.size(); ++i)
    loops[i] = {nest.loops[i].count, nest.loops[i].a_step, nest.loops[i].b_step};
  return {loops.data(), nest.loops.size()};
}

std::span<const copy::Loop> b_to_a(const plan::Nest& nest, Loops& loops) {
  for (std::size_t i = 0; i < nest.loops.size(); ++i)
    loops[i] = {nest.loops[i].count, nest.loops[i].b_step, nest.loops[i].a_step};
  return {loops.data(), nest.loops.size()};
}

/// Replaces side b of a nest by a dense array in the order of the loops; returns its bytes.
std::int64_t make_b_dense(plan::Nest& nest, std::int64_t element_bytes) {
  std::int64_t step = element_bytes;
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    nest.loops[i].b_step = step;
    step *= nest.loops[i].count;
  }
  return step;
}

void swap_sides(plan::Nest& nest) {
  std::swap(nest.a, nest.b);
  for (plan::NestLoop& loop : nest.loops) std::swap(loop.a_step, loop.b_step);
}

}  // namespace

WindowCopier::WindowCopier(const plan::AccessPlan& plan, std::int64_t rank)
    : plan_(plan),
      holdings_(plan.owners().holdings(rank)),
      window_strides_(plan::in_bytes(plan::dense_strides(plan.section().shape), plan.element_bytes())),
      no_strides_(plan.section().shape.size(), 0) {
  if (!holdings_.empty() && plan.layout().local_elements(rank) * plan.element_bytes() >= kLargeArray)
    array_landing_ = copy::Landing::kMemory;
}

/// Calls visit(offset of the box in the window, nest of window and array) for each product of pieces in the range.
template <typename Visit>
void WindowCopier::for_each_product(Range range, const Extents& array_strides, Visit&& visit) const {
  std::vector<plan::Pieces> pieces(plan_.section().shape.size());
  const std::vector<plan::Box> boxes = plan_.section().boxes(range.begin, range.end);
  for (const plan::Holding& own : holdings_) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < pieces.size(); ++d) position += own.positions[d] * array_strides[d];
    for (const plan::Box& box : boxes) {
      bool empty = false;
      for (std::size_t d = 0; d < pieces.size() && !empty; ++d) {
        pieces[d] = plan::intersect(IndexSet::range(box.lo[d], box.hi[d]), own.sets[d]);
        empty = pieces[d].empty();
      }
      if (empty) continue;
      const std::int64_t offset = box.position * plan_.element_bytes();
      const Extents strides_in_part = plan::in_bytes(box.strides, plan_.element_bytes());
      plan::for_each_nest(pieces, box.strides.empty() ? window_strides_ : strides_in_part, array_strides,
                          [&](plan::Nest& nest) {
                            nest.b += position;
                            visit(offset, nest);
                          });
    }
  }
}

void WindowCopier::window_to_array(Range range, const std::byte* window, const copy::LocalArray& array) const {
  Loops loops;
  for_each_product(range, plan_.owners().local_strides(array.steps), [&](std::int64_t offset, const plan::Nest& nest) {
    copy::strided_copy(array.data + nest.b, window + offset + nest.a, plan_.element_bytes(), a_to_b(nest, loops),
                       array_landing_);
  });
}

void WindowCopier::array_to_window(Range range, const copy::LocalArray& array, std::byte* window) const {
  Loops loops;
  for_each_product(range, plan_.owners().local_strides(array.steps), [&](std::int64_t offset, const plan::Nest& nest) {
    copy::strided_copy(window + offset + nest.a, array.data + nest.b, plan_.element_bytes(), b_to_a(nest, loops));
  });
}

std::int64_t WindowCopier::pack_from_window(Range range, const std::byte* window, std::byte* packed) const {
  Loops loops;
  std::int64_t done = 0;
  for_each_product(range, no_strides_, [&](std::int64_t offset, plan::Nest nest) {
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(packed + done, window + offset + nest.a, plan_.element_bytes(), a_to_b(nest, loops));
    done += bytes;
  });
  return done;
}

std::int64_t WindowCopier::unpack_to_window(Range range, const std::byte* packed, std::byte* window) const {
  Loops loops;
  std::int64_t done = 0;
  for_each_product(range, no_strides_, [&](std::int64_t offset, plan::Nest nest) {
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(window + offset + nest.a, packed + done, plan_.element_bytes(), b_to_a(nest, loops));
    done += bytes;
  });
  return done;
}

std::int64_t WindowCopier::unpack_to_array(Range range, const std::byte* packed, const copy::LocalArray& array) const {
  Loops loops;
  std::int64_t done = 0;
  for_each_product(range, plan_.owners().local_strides(array.steps), [&](std::int64_t, plan::Nest nest) {
    swap_sides(nest);  // side a is the array now, side b the message
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(array.data + nest.a, packed + done, plan_.element_bytes(), b_to_a(nest, loops));
    done += bytes;
  });
  return done;
}

std::int64_t WindowCopier::pack_from_array(Range range, const copy::LocalArray& array, std::byte* packed) const {
  Loops loops;
  std::int64_t done = 0;
  for_each_product(range, plan_.owners().local_strides(array.steps), [&](std::int64_t, plan::Nest nest) {
    swap_sides(nest);
    const std::int64_t bytes = make_b_dense(nest, plan_.element_bytes());
    copy::strided_copy(packed + done, array.data + nest.a, plan_.element_bytes(), a_to_b(nest, loops));
    done += bytes;
  });
  return done;
}

}  // namespace plait::access
