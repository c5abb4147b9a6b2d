#include "copy/strided_copy.hpp"

#include "copy/instruction_set.hpp"
#include "copy/nest.hpp"

namespace plait::copy {

void strided_copy(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops) {
  const Nest nest = normalise(target, source, element_bytes, loops);
  if (nest.run_bytes == 0) return;
  current_instruction_set().copy(nest.target, nest.source, nest.run_bytes, nest.loops, nest.depth);
}

}  // namespace plait::copy
