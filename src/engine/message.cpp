#include "engine/message.hpp"

#include <array>

#include "copy/strided_copy.hpp"
#include "plan/partners.hpp"
#include "plan/runs.hpp"
#include "plan/section.hpp"

namespace plait::engine {

namespace {

void copy_nest(std::byte* b, const std::byte* a, std::int64_t element_bytes, const plan::Nest& nest) {
  std::array<copy::Loop, 2 * kMaxDimensions> loops;
  for (std::size_t i = 0; i < nest.loops.size(); ++i)
    loops[i] = {nest.loops[i].count, nest.loops[i].a_step, nest.loops[i].b_step};
  copy::strided_copy(b + nest.b, a + nest.a, element_bytes, {loops.data(), nest.loops.size()});
}

Extents in_order(const Extents& steps, const std::vector<std::size_t>& order) {
  Extents result;
  for (const std::size_t d : order) result.push_back(steps[d]);
  return result;
}

}  // namespace

PackedMessage::PackedMessage(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                             std::int64_t element_bytes)
    : element_bytes_(element_bytes) {
  const std::vector<IndexSet> from = source.index_sets(sender);
  const std::vector<IndexSet> to = target.index_sets(receiver);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto d = static_cast<std::size_t>(target.order()[i]);
    order_.push_back(d);
    pieces_.push_back(plan::intersect(from[d], to[d]));
    counts_.push_back(plan::elements(pieces_.back()));
    elements_ *= counts_.back();
  }
}

/// Calls visit(offset of a box in the packed range, pieces of the box, steps of the packed box) for each box.
template <typename Visit>
void PackedMessage::for_each_box(std::int64_t begin, std::int64_t end, Visit&& visit) const {
  Extents packed_steps = plan::dense_strides(counts_);
  for (std::int64_t& step : packed_steps) step *= element_bytes_;
  std::vector<plan::Pieces> clipped(pieces_.size());
  for (const plan::Box& box : plan::boxes_of(counts_, begin, end)) {
    for (std::size_t d = 0; d < pieces_.size(); ++d) clipped[d] = plan::clip(pieces_[d], box.lo[d], box.hi[d]);
    visit(box.place * element_bytes_, clipped, packed_steps);
  }
}

void PackedMessage::pack(std::int64_t begin, std::int64_t end, const LocalArray& from, std::byte* packed) const {
  const Extents steps = in_order(from.steps, order_);
  for_each_box(begin, end, [&](std::int64_t offset, std::vector<plan::Pieces>& pieces, const Extents& packed_steps) {
    for (plan::Pieces& dimension : pieces)
      for (plan::Piece& piece : dimension) {
        piece.b = piece.common;
        piece.b_step = piece.common_step;
      }
    plan::for_each_nest(pieces, steps, packed_steps,
                        [&](const plan::Nest& nest) { copy_nest(packed + offset, from.data, element_bytes_, nest); });
  });
}

void PackedMessage::unpack(std::int64_t begin, std::int64_t end, const std::byte* packed, const LocalArray& to) const {
  const Extents steps = in_order(to.steps, order_);
  for_each_box(begin, end, [&](std::int64_t offset, std::vector<plan::Pieces>& pieces, const Extents& packed_steps) {
    for (plan::Pieces& dimension : pieces)
      for (plan::Piece& piece : dimension) {
        piece.a = piece.common;
        piece.a_step = piece.common_step;
      }
    plan::for_each_nest(pieces, packed_steps, steps,
                        [&](const plan::Nest& nest) { copy_nest(to.data, packed + offset, element_bytes_, nest); });
  });
}

void PackedMessage::copy(const LocalArray& from, const LocalArray& to) const {
  plan::for_each_nest(pieces_, in_order(from.steps, order_), in_order(to.steps, order_),
                      [&](const plan::Nest& nest) { copy_nest(to.data, from.data, element_bytes_, nest); });
}

}  // namespace plait::engine
