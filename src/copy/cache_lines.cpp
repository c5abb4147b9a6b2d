#include "copy/cache_lines.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace plait::copy {

#if defined(__x86_64__)

namespace {

constexpr std::int64_t kLine = 64;

/// Returns true if the processor has the instruction clflushopt, according to CPUID leaf 7, register EBX.
bool has_clflushopt() {
  constexpr unsigned kExtendedFeatures = 7;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(kExtendedFeatures, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

__attribute__((target("clflushopt"))) void flush(const std::byte* memory, std::int64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory) / kLine * kLine;
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(bytes);
  // The intrinsic takes a pointer to non-const memory, but the instruction does not change the memory.
  for (std::uintptr_t line = first; line < end; line += kLine) _mm_clflushopt(reinterpret_cast<void*>(line));
  _mm_sfence();  // clflushopt is not ordered with later stores otherwise
}

}  // namespace

bool can_drop_cache_lines() {
  static const bool can = has_clflushopt();
  return can;
}

void drop_cache_lines(const std::byte* memory, std::int64_t bytes) {
  if (can_drop_cache_lines()) flush(memory, bytes);
}

#else

bool can_drop_cache_lines() { return false; }
void drop_cache_lines(const std::byte* /*memory*/, std::int64_t /*bytes*/) {}

#endif

}  // namespace plait::copy
