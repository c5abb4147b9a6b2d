/// A nest of loops in normal form, the input of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "copy/strided_copy.hpp"

namespace plait::copy {

/// Maximum number of loops. Each loop has a count of at least 2 and thus at least doubles the number of elements, so no
/// memory can hold a deeper nest.
inline constexpr int kMaximumLoops = 64;

/// A copy in normal form: no count below 2, every target stride positive, loops sorted by target stride, loops that
/// continue each other joined, and the bytes that are contiguous on both sides joined to runs of `run_bytes` bytes.
struct Nest {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  std::int64_t run_bytes = 0;  ///< 0: nothing to copy
  int depth = 0;
  Loop loops[kMaximumLoops];
};

/// Converts a copy to normal form. See strided_copy() for the arguments.
Nest normalise(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops);

}  // namespace plait::copy
