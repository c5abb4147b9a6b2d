/// Detects elements in memory that share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::base {

/// The elements of a box: the first one, and for each dimension the count and the stride in bytes, of any sign.
struct MemoryBox {
  const std::byte* first = nullptr;
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;
  std::int64_t element_bytes = 1;
};

/// A range of bytes from `low` to before `high`; both are equal if there are no elements.
struct Bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  bool empty() const { return low >= high; }
  bool meets(const Bounds& other) const { return low < other.high && other.low < high; }
};
/// Returns the range of bytes that a box covers.
Bounds find_bounds(const MemoryBox& box);

/// True if an element of one box and an element of the other share a byte, or if the search would take too long, which
/// never happens for slices of dense arrays.
bool share_memory(const MemoryBox& a, const MemoryBox& b);

/// True if two elements of a box share a byte, or if the search would take too long.
bool overlaps_itself(const MemoryBox& box);

}  // namespace plait::base
