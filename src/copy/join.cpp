#include "copy/join.hpp"

#include "copy/instruction_set.hpp"

namespace plait::copy {

void join(std::byte* target, std::span<const Run> runs) {
  current_instruction_set().join(target, runs.data(), static_cast<std::int64_t>(runs.size()));
}

}  // namespace plait::copy
