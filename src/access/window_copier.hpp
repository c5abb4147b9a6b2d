/// Copies between windows of a store and the local arrays of ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "copy/strided_copy.hpp"
#include "plan/access/access_plan.hpp"

namespace plait::access {

/// Copies the elements that one rank owns in any range of an access; there are none if the layout does not have the
/// rank. A range is cut into boxes.  The intersections of a box with the rank's index sets are products of pieces,
/// which the copy kernels execute as loops, without a list of elements or offsets.
/// cost    24 bytes per index set; a call costs O(boxes * products of pieces) in addition to the bytes.
/// threads  Const calls from any thread.
class WindowCopier {
 public:
  WindowCopier(const plan::AccessPlan& plan, std::int64_t rank);

  /// Copy between a window, which holds all elements of the range in order of their positions, and the rank's array.
  void window_to_array(plan::PositionRange range, const std::byte* window, const copy::LocalArray& array) const;
  void array_to_window(plan::PositionRange range, const copy::LocalArray& array, std::byte* window) const;

  /// Returns the address of a range within the array, if the rank owns the whole range and the array holds it
  /// contiguously and in order of positions, as a window does; otherwise nullptr.
  std::byte* find_in_array(plan::PositionRange range, const copy::LocalArray& array) const;

  /// Copy between a packed message and a window or an array.  A message holds only the rank's elements of the range, in
  /// an order that these four functions share.  Each returns the number of bytes of the message.
  std::int64_t pack_from_window(plan::PositionRange range, const std::byte* window, std::byte* packed) const;
  std::int64_t unpack_to_array(plan::PositionRange range, const std::byte* packed, const copy::LocalArray& array) const;
  std::int64_t pack_from_array(plan::PositionRange range, const copy::LocalArray& array, std::byte* packed) const;
  std::int64_t unpack_to_window(plan::PositionRange range, const std::byte* packed, std::byte* window) const;

  /// Returns the elements that the rank owns, as index sets.
  const std::vector<plan::RankElements>& holdings() const { return holdings_; }

 private:
  /// Calls handle_nest(offset of the box in the window, nest of window and array) for each product of pieces in a
  /// range.
  template <typename Handler>
  void for_each_product(plan::PositionRange range, const Extents& array_strides, Handler&& handle_nest) const;

  const plan::AccessPlan& plan_;
  std::vector<plan::RankElements> holdings_;
  Extents window_strides_;  // in bytes, one for each section dimension
  Extents no_strides_;
  copy::Destination array_destination_ = copy::Destination::kCaches;
};

/// Returns the address of a range within one of the arrays, if that array holds it as a window would and no other rank
/// owns any of its elements; otherwise nullptr. `copiers[i]` and `arrays[i]` belong to the same rank.
std::byte* find_in_arrays(const plan::AccessPlan& plan, std::span<const WindowCopier> copiers,
                          std::span<const copy::LocalArray> arrays, plan::PositionRange range);

}  // namespace plait::access
