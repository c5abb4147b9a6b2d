/// Whether elements in memory share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::base {

/// Elements in a box: the first one, and the count and the step in bytes, of any sign, of each dimension.
struct MemoryBox {
  const std::byte* first = nullptr;
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> steps;
  std::int64_t element_bytes = 1;
};

/// The bytes from the lowest to the highest one, which is left out; equal where there are no elements.
struct Bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  bool empty() const { return low >= high; }
  bool meets(const Bounds& other) const { return low < other.high && other.low < high; }
};
Bounds bounds_of(const MemoryBox& box);

/// Whether an element of one and an element of the other share a byte.  Also true for steps that would take too long to
/// tell, which is none that follow from slicing dense arrays.
bool share_memory(const MemoryBox& a, const MemoryBox& b);

/// Whether two elements of a box share a byte.  As above.
bool overlaps_itself(const MemoryBox& box);

}  // namespace plait::base
