#include "copy/zip.hpp"

#include "copy/instruction_set.hpp"

namespace plait::copy {

bool zip(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes, std::int64_t count,
         Destination landing) {
  return current_instruction_set().zip(target, sources, ways, element_bytes, count,
                                       landing == Destination::kMemoryUnfenced);
}

bool zips_lines(int ways, std::int64_t element_bytes, std::int64_t count) {
  constexpr std::int64_t kLine = 64;
  return element_bytes % kLine == 0 || (ways == 2 && element_bytes == 8 && 2 * 8 * count % kLine == 0);
}

}  // namespace plait::copy
