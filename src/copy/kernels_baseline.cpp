// The kernels for every processor of the family: SSE2 on x86-64, NEON on arm64, plain C++ elsewhere.
#if defined(__aarch64__)
#define PLAIT_KERNELS_NAME "neon"
#else
#define PLAIT_KERNELS_NAME "baseline"
#endif
#define PLAIT_KERNELS baseline
#include "copy/kernels/kernels.inl"

namespace plait::copy {
const InstructionSet* const kBaselineKernels = &baseline::kKernels;
}  // namespace plait::copy
