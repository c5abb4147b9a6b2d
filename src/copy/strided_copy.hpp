/// Copies between two strided views of the same elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::copy {

/// One loop of a nest: `count` iterations, each of which advances both sides by a number of BYTES.
struct Loop {
  std::int64_t count = 1;
  std::int64_t source_stride = 0;
  std::int64_t target_stride = 0;
};

/// Selects whether a copy puts the bytes of its target in the caches, or past them in memory by non-temporal stores.
/// Non-temporal stores make dense copies up to 1.6 times as fast, because no line is read before it is written; but
/// reading the target soon afterwards is slower. This is a hint: transposes always use the caches.
enum class Destination : std::uint8_t {
  kAutomatic,       ///< kMemory for copies of at least 16 MiB
  kCaches,          ///< for a target that is small or read soon, such as a window or a message
  kMemory,          ///< for a part of a target that is larger than the caches
  kMemoryUnfenced,  ///< kMemory for one of many small parts: other threads must not read them before fence()
};

/// Copies elements of `element_bytes` bytes over a nest of loops in any order.
///
/// pre      The views do not overlap, and the nest reaches no target element twice. Strides may be negative and need
/// not be multiples of anything. A count of 0 copies nothing; no loops copy one element.
/// touches  Writes bytes of target elements only, so other threads may write the bytes between them at the same time.
/// May read any byte between the first and the last one of the source, including bytes that belong to no element.
/// cost     O(loops) set-up, below a microsecond; no allocation. tests/cpp/copy/copy_bench.cpp prints the rates.
/// threads  Any; no shared state.
void strided_copy(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops,
                  Destination destination = Destination::kAutomatic);

/// Fence: makes all kMemoryUnfenced copies of this thread visible before its later stores.
/// cost  Waits for the stores in progress. A call after each KiB would halve the speed of a copy.
void fence();

/// Returns the instruction set of the kernels in this process: "avx512", "avx2", "neon" or "baseline".
const char* instruction_set();

}  // namespace plait::copy
