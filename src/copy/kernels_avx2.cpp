// The kernels for x86-64 with AVX2; needs the flags of sources.cmake.
#include "copy/instruction_set.hpp"

#if defined(__AVX2__)
#define PLAIT_KERNELS_NAME "avx2"
#define PLAIT_KERNELS avx2
#include "copy/kernels/kernels.inl"

namespace plait::copy {
const InstructionSet* const kAvx2Kernels = &avx2::kKernels;
}  // namespace plait::copy
#else
namespace plait::copy {
const InstructionSet* const kAvx2Kernels = nullptr;
}  // namespace plait::copy
#endif
