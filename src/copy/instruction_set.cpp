#include "copy/instruction_set.hpp"

#include <array>
#include <atomic>

namespace plait::copy {
namespace {

#if defined(__x86_64__)
bool runs_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); }
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi");
}
#else
bool runs_avx2() { return false; }
bool runs_avx512() { return false; }
#endif

struct Available {
  std::array<InstructionSet, 3> sets{};
  std::size_t count = 0;

  Available() {
    if (kAvx512Kernels != nullptr && runs_avx512()) sets[count++] = *kAvx512Kernels;
    if (kAvx2Kernels != nullptr && runs_avx2()) sets[count++] = *kAvx2Kernels;
    sets[count++] = *kBaselineKernels;
  }
};

const Available& available() {
  static const Available value;
  return value;
}

std::atomic<const InstructionSet*>& current() {
  static std::atomic<const InstructionSet*> value{&available().sets[0]};
  return value;
}

}  // namespace

std::span<const InstructionSet> instruction_sets() { return {available().sets.data(), available().count}; }

bool use_instruction_set(std::string_view name) {
  for (const InstructionSet& set : instruction_sets()) {
    if (name == set.name) {
      current().store(&set);
      return true;
    }
  }
  return false;
}

const InstructionSet& current_instruction_set() { return *current().load(std::memory_order_acquire); }

const char* instruction_set() { return current_instruction_set().name; }

}  // namespace plait::copy
