/// Copies between windows of a store and the local arrays of ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "copy/local_array.hpp"
#include "copy/strided_copy.hpp"
#include "plan/access/access_plan.hpp"

namespace plait::access {

/// The part of one rank in any range of an access, none for a rank that the layout does not have.  A range is cut into
/// boxes; a box and the rank's index sets meet in products of pieces, which the copy kernels walk: no list of elements or
/// offsets exists anywhere.
/// cost    24 bytes an index set; a call costs O(boxes * products of pieces) besides the bytes.
/// threads Const calls from any thread.
class WindowCopier {
 public:
  WindowCopier(const plan::AccessPlan& plan, std::int64_t rank);

  /// The window holds all elements of the range, in order of their positions.
  void window_to_array(plan::PositionRange range, const std::byte* window, const copy::LocalArray& array) const;
  void array_to_window(plan::PositionRange range, const copy::LocalArray& array, std::byte* window) const;

  /// A packed message holds the rank's elements of the range alone, in one order that only these four functions know.
  /// Each returns the bytes of the message.
  std::int64_t pack_from_window(plan::PositionRange range, const std::byte* window, std::byte* packed) const;
  std::int64_t unpack_to_array(plan::PositionRange range, const std::byte* packed, const copy::LocalArray& array) const;
  std::int64_t pack_from_array(plan::PositionRange range, const copy::LocalArray& array, std::byte* packed) const;
  std::int64_t unpack_to_window(plan::PositionRange range, const std::byte* packed, std::byte* window) const;

  const std::vector<plan::Holding>& holdings() const { return holdings_; }

 private:
  template <typename Visit>
  void for_each_product(plan::PositionRange range, const Extents& array_strides, Visit&& visit) const;

  const plan::AccessPlan& plan_;
  std::vector<plan::Holding> holdings_;
  Extents window_strides_;  // bytes, one for each section dimension
  Extents no_strides_;
  copy::Landing array_landing_ = copy::Landing::kCaches;
};

}  // namespace plait::access
