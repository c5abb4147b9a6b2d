// The kernels for x86-64 with AVX-512 (with byte permutes); needs the flags of sources.cmake.
#include "copy/instruction_set.hpp"

#if defined(__AVX512VBMI__)
#define PLAIT_KERNELS_NAME "avx512"
#define PLAIT_KERNELS avx512
#include "copy/kernels/kernels.inl"

namespace plait::copy {
const InstructionSet* const kAvx512Kernels = &avx512::kKernels;
}  // namespace plait::copy
#else
namespace plait::copy {
const InstructionSet* const kAvx512Kernels = nullptr;
}  // namespace plait::copy
#endif
