/// A nest of loops in normal form, which is what the kernels take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "copy/strided_copy.hpp"

namespace plait::copy {

/// Loops that really loop (count >= 2) at least double the number of elements, so memory holds no deeper nest.
inline constexpr int kMaximumLoops = 64;

/// A copy in normal form: no count below 2, every target step positive, loops sorted by target step, loops that
/// continue each other joined, and the bytes that are contiguous on both sides gathered in `run_bytes`.
struct Nest {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  std::int64_t run_bytes = 0;  ///< 0: nothing to copy
  int depth = 0;
  Loop loops[kMaximumLoops];
};

/// Brings a copy into normal form.  See strided_copy() for what the arguments mean.
Nest normalise(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops);

}  // namespace plait::copy
