#include "copy/strided_copy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "copy/instruction_set.hpp"
#include "copy/nest.hpp"

namespace plait::copy {

namespace {

/// Targets of this size or more do not fit into the caches.
constexpr std::int64_t kStreamedBytes = 16 << 20;

bool is_large(const Nest& nest) {
  std::int64_t bytes = nest.run_bytes;
  for (int i = 0; i < nest.depth && bytes < kStreamedBytes; ++i) bytes *= nest.loops[i].count;
  return bytes >= kStreamedBytes;
}

}  // namespace

void strided_copy(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops,
                  Destination destination) {
  const Nest nest = normalise(target, source, element_bytes, loops);
  if (nest.run_bytes == 0) return;
  const bool is_streamed = destination == Destination::kMemory || destination == Destination::kMemoryUnfenced ||
                           (destination == Destination::kAutomatic && is_large(nest));
  current_instruction_set().copy(nest.target, nest.source, nest.run_bytes, nest.loops, nest.depth, is_streamed);
  if (is_streamed && destination != Destination::kMemoryUnfenced) fence();
}

void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace plait::copy
