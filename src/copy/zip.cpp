#include "copy/zip.hpp"

#include "copy/instruction_set.hpp"

namespace plait::copy {

bool zip(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t element_bytes,
         std::int64_t count, Destination destination) {
  return current_instruction_set().zip(target, sources, source_count, element_bytes, count,
                                       destination == Destination::kMemoryUnfenced);
}

bool zips_lines(int source_count, std::int64_t element_bytes, std::int64_t count) {
  constexpr std::int64_t kLine = 64;
  return element_bytes % kLine == 0 || (source_count == 2 && element_bytes == 8 && 2 * 8 * count % kLine == 0);
}

}  // namespace plait::copy
