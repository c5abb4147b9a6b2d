#include "copy/instruction_set.hpp"

#include <array>
#include <atomic>

namespace plait::copy {
namespace {

#if defined(__x86_64__)
bool supports_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); }
bool supports_avx512() {
  return supports_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi");
}
#else
bool supports_avx2() { return false; }
bool supports_avx512() { return false; }
#endif

/// The sets that this build contains and this processor supports, best first.
struct AvailableSets {
  std::array<InstructionSet, 3> sets{};
  std::size_t count = 0;

  AvailableSets() {
    if (kAvx512Kernels != nullptr && supports_avx512()) sets[count++] = *kAvx512Kernels;
    if (kAvx2Kernels != nullptr && supports_avx2()) sets[count++] = *kAvx2Kernels;
    sets[count++] = *kBaselineKernels;
  }
};

const AvailableSets& available_sets() {
  static const AvailableSets value;
  return value;
}

/// The set in use: the best one until use_instruction_set() chooses another.
std::atomic<const InstructionSet*>& current_set() {
  static std::atomic<const InstructionSet*> value{&available_sets().sets[0]};
  return value;
}

}  // namespace

std::span<const InstructionSet> instruction_sets() { return {available_sets().sets.data(), available_sets().count}; }

bool use_instruction_set(std::string_view name) {
  for (const InstructionSet& set : instruction_sets()) {
    if (name == set.name) {
      current_set().store(&set);
      return true;
    }
  }
  return false;
}

const InstructionSet& current_instruction_set() { return *current_set().load(std::memory_order_acquire); }

const char* instruction_set() { return current_instruction_set().name; }

}  // namespace plait::copy
