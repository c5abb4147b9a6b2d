/// Copies between two strided views of the same elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::copy {

/// One loop of a nest: `count` steps, each of which moves the two ends by so many BYTES.
struct Loop {
  std::int64_t count = 1;
  std::int64_t source_step = 0;
  std::int64_t target_step = 0;
};

/// Copies elements of `element_bytes` bytes over a nest of loops, given in any order.
///
/// pre      The views do not overlap and the nest visits no target element twice; steps may be negative and need not be
///          multiples of anything; a count of 0 copies nothing; no loops copy one element.
/// cost     O(loops) set-up, no allocation for up to 64 loops; see docs/architecture.md for the kernels' rates.
/// threads  Any; no shared state.
void strided_copy(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops);

/// The instruction set that the kernels of this process use: "avx512", "avx2", "neon" or "baseline".
const char* instruction_set();

}  // namespace plait::copy
