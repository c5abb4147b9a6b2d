/// The instruction sets for which the copy kernels are compiled, and the choice among them.
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
  /// Copies a nest in normal form (see nest.hpp) with `run_bytes` > 0. If `is_streamed` is true, it uses non-temporal
  /// stores without a final fence (see strided_copy.hpp).
  void (*copy)(std::byte* target, const std::byte* source, std::int64_t run_bytes, const Loop* loops, int depth,
               bool is_streamed);
  /// Implements zip() (see zip.hpp).
  bool (*zip)(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t element_bytes,
              std::int64_t count, bool is_streamed);
  /// Implements join() (see join.hpp).
  void (*join)(std::byte* target, const Run* runs, std::int64_t count);
};

/// Returns the sets that this build contains and this processor supports, best first; never empty.
std::span<const InstructionSet> instruction_sets();

/// Makes all later copies of this process use the named set. Returns false, without a change, if it is not in
/// instruction_sets(). For tests and benchmarks; safe while other threads copy.
bool use_instruction_set(std::string_view name);

/// Returns the set in use.
const InstructionSet& current_instruction_set();

// Defined in one translation unit each; nullptr if the translation unit was not compiled for that set.
extern const InstructionSet* const kBaselineKernels;
extern const InstructionSet* const kAvx2Kernels;
extern const InstructionSet* const kAvx512Kernels;

}  // namespace plait::copy
