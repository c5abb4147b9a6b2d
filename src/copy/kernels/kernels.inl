// All kernels of one instruction set. A translation unit defines PLAIT_KERNELS (a namespace) and PLAIT_KERNELS_NAME
// and includes this file once.
//
// The kernels must not call an inline function of the standard library or of another header: the linker keeps one
// copy of such a function for the whole program, which could be the one compiled for this instruction set.
#include <cstddef>
#include <cstdint>

#include "copy/instruction_set.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC's own header causes these warnings by its "undefined" vectors.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace plait::copy::PLAIT_KERNELS {
namespace {

/// Maximum number of loops: those of a normal form and those that strips add.
constexpr int kMaximumDepth = 64 + 4;

/// A loop of a nest, in bytes. It is `copy::Loop` without initialisers, and so without inline constructors.
struct KernelLoop {
  std::int64_t count, source, target;
};

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
inline std::int64_t magnitude(std::int64_t a) { return a < 0 ? -a : a; }

// Each part uses the ones before it.
#include "copy/kernels/vectors.inl"
//
#include "copy/kernels/rows.inl"
#include "copy/kernels/shuffle.inl"
#include "copy/kernels/stream.inl"
//
#include "copy/kernels/join.inl"
#include "copy/kernels/transpose.inl"
#include "copy/kernels/zip.inl"
//
#include "copy/kernels/execute.inl"

constexpr InstructionSet kKernels{PLAIT_KERNELS_NAME, execute, zip, join};

}  // namespace
}  // namespace plait::copy::PLAIT_KERNELS
