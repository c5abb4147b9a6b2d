// A message between two ranks, packed and unpacked in chunks.
//
// A message may be longer than a window, so it is packed in ranges of its elements. The elements of each product form a
// dense array in the target's order, with as many elements in each dimension as the product has there; the `common`
// positions of the pieces are positions in this array. A range of the array is a few boxes (plan::cut_boxes), and the
// pieces of every dimension are clipped to each box.
//
// Example: a product of 3x4 elements, packed 5 elements at a time. The chunk [5, 10) has the boxes [1,2) x [1,4) and
// [2,3) x [0,2): clipping the pieces of the second dimension to [1,4) and [0,2) gives the positions in the source for
// packing and in the target for unpacking.

#include "exchange/message.hpp"

#include <algorithm>

#include "copy/strided_copy.hpp"
#include "exchange/families.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/section/section.hpp"

namespace plait::exchange {

PackedMessage::PackedMessage(std::vector<plan::Product> products, const DimensionOrder& target_order,
                             std::int64_t element_bytes)
    : element_bytes_(element_bytes), order_(target_order) {
  for (plan::Product& product : products) {
    Part part;
    part.first = elements_;
    for (const std::size_t d : order_) {
      part.counts.push_back(plan::elements(product[d]));
      part.elements *= part.counts.back();
      part.pieces.push_back(std::move(product[d]));
    }
    elements_ += part.elements;
    parts_.push_back(std::move(part));
  }
}

/// Calls visit(byte offset in the array, byte offset in the packed range, loops from source to target) for each nest of
/// the elements [begin, end). The source is the array if `packing` is true, otherwise the packed range.
template <typename Visit>
void PackedMessage::for_each_nest_in(std::int64_t begin, std::int64_t end, const Extents& strides, bool packing,
                                     Visit&& visit) const {
  Extents array_strides;
  for (const std::size_t d : order_) array_strides.push_back(strides[d]);
  std::vector<Families> families(order_.size());
  std::vector<const Families*> family_lists(order_.size());
  for (const Part& part : parts_) {
    const std::int64_t from = std::max(begin, part.first);
    const std::int64_t to = std::min(end, part.first + part.elements);
    if (from >= to) continue;
    const Extents packed_strides = plan::in_bytes(plan::dense_strides(part.counts), element_bytes_);
    for (const plan::Box& box : plan::cut_boxes(part.counts, from - part.first, to - part.first)) {
      for (std::size_t d = 0; d < order_.size(); ++d) {
        plan::Pieces pieces = plan::clip(part.pieces[d], box.lo[d], box.hi[d]);
        // On the packed side, the pieces count positions in the packed product instead of an array.
        for (plan::Piece& piece : pieces) {
          (packing ? piece.b : piece.a) = piece.common;
          (packing ? piece.b_stride : piece.a_stride) = piece.common_stride;
        }
        families[d] = make_families(pieces);
        family_lists[d] = &families[d];
      }
      const std::int64_t offset = (box.position + from - begin) * element_bytes_;
      for_each_nest(family_lists, packing ? array_strides : packed_strides, packing ? packed_strides : array_strides,
                    [&](std::int64_t a, std::int64_t b, std::span<const copy::Loop> loops) {
                      visit(packing ? a : b, offset + (packing ? b : a), loops);
                    });
    }
  }
}

void PackedMessage::pack(std::int64_t begin, std::int64_t end, const copy::LocalArray& from, std::byte* packed) const {
  for_each_nest_in(begin, end, from.strides, /*packing=*/true,
                   [&](std::int64_t array, std::int64_t position, std::span<const copy::Loop> loops) {
                     copy::strided_copy(packed + position, from.data + array, element_bytes_, loops,
                                        copy::Destination::kCaches);
                   });
}

void PackedMessage::unpack(std::int64_t begin, std::int64_t end, const std::byte* packed,
                           const copy::LocalArray& to) const {
  for_each_nest_in(begin, end, to.strides, /*packing=*/false,
                   [&](std::int64_t array, std::int64_t position, std::span<const copy::Loop> loops) {
                     copy::strided_copy(to.data + array, packed + position, element_bytes_, loops);
                   });
}

}  // namespace plait::exchange
