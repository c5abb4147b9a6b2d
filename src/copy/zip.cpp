#include "copy/zip.hpp"

#include "copy/instruction_set.hpp"

namespace plait::copy {

bool zip(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes, std::int64_t count) {
  return current_instruction_set().zip(target, sources, ways, element_bytes, count);
}

}  // namespace plait::copy
