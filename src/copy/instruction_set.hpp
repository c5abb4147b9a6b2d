/// The instruction sets that the copy kernels are compiled for, and the choice among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "copy/join.hpp"
#include "copy/strided_copy.hpp"

namespace plait::copy {

/// The kernels of one instruction set.
struct InstructionSet {
  const char* name;
  /// Copies a nest in normal form (see nest.hpp) whose run is `run_bytes` > 0; past the caches, not
  /// settled (see strided_copy.hpp), where `streamed`.
  void (*copy)(std::byte* target, const std::byte* source, std::int64_t run_bytes, const Loop* loops, int depth,
               bool streamed);
  /// See zip.hpp.
  bool (*zip)(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes,
              std::int64_t count, bool streamed);
  /// See join.hpp.
  void (*join)(std::byte* target, const Run* runs, std::int64_t count);
};

/// Those that this build holds and this processor runs, best first; never empty.
std::span<const InstructionSet> instruction_sets();

/// Makes every later copy of this process use the set of that name; false, changing nothing, where it is not among
/// instruction_sets().  For tests and benchmarks; safe while other threads copy.
bool use_instruction_set(std::string_view name);

/// The set in use.
const InstructionSet& current_instruction_set();

// One translation unit each; nullptr where the compiler was not told to use that set.
extern const InstructionSet* const kBaselineKernels;
extern const InstructionSet* const kAvx2Kernels;
extern const InstructionSet* const kAvx512Kernels;

}  // namespace plait::copy
