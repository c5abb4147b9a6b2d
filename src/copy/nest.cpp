// Converts a copy to normal form: as few loops as possible around a run that is as long as possible.
//
// Two rules are applied until neither matches. A loop whose stride is the run's length on both sides lengthens the run.
// Two loops become one if the strides of the outer one are, on both sides, the whole extent of the inner one.
//
// Example: elements of 8 bytes, a dense array of 3 x 4 elements copied into a dense one. The loop (count 4, strides 8,
// 8) lengthens the run to 32 bytes, and the loop (3, 32, 32) to 96 bytes: one memcpy. If the target's rows are 64
// bytes apart, (3, 32, 64) remains as a loop around runs of 32 bytes.

#include "copy/nest.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace plait::copy {
namespace {

void remove_loop(Nest& nest, int position) {
  std::copy(nest.loops + position + 1, nest.loops + nest.depth, nest.loops + position);
  --nest.depth;
}

/// Lengthens the run by a loop that continues it on both sides.
bool absorb_loop(Nest& nest) {
  for (int i = 0; i < nest.depth; ++i) {
    const Loop& loop = nest.loops[i];
    if (loop.source_stride == nest.run_bytes && loop.target_stride == nest.run_bytes) {
      nest.run_bytes *= loop.count;
      remove_loop(nest, i);
      return true;
    }
  }
  return false;
}

/// Joins two loops if the outer one continues the inner one on both sides.
bool fuse_loops(Nest& nest) {
  for (int i = 0; i < nest.depth; ++i) {
    for (int j = 0; j < nest.depth; ++j) {
      Loop& inner = nest.loops[i];
      const Loop& outer = nest.loops[j];
      if (i != j && outer.source_stride == inner.count * inner.source_stride &&
          outer.target_stride == inner.count * inner.target_stride) {
        inner.count *= outer.count;
        remove_loop(nest, j);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Nest normalise(std::byte* target, const std::byte* source, std::int64_t element_bytes, std::span<const Loop> loops) {
  Nest nest;
  nest.target = target;
  nest.source = source;
  if (element_bytes <= 0 || std::ranges::any_of(loops, [](const Loop& loop) { return loop.count <= 0; })) return nest;
  nest.run_bytes = element_bytes;
  for (Loop loop : loops) {
    if (loop.count == 1) continue;
    if (nest.depth == kMaximumLoops) {
      base::throw_argument_error(
          "A copy has more than 64 loops of two or more iterations, which no memory holds; "
          "check the counts of its loops.");
    }
    if (loop.target_stride < 0) {  // iterates in the other direction
      nest.target += (loop.count - 1) * loop.target_stride;
      nest.source += (loop.count - 1) * loop.source_stride;
      loop.target_stride = -loop.target_stride;
      loop.source_stride = -loop.source_stride;
    }
    nest.loops[nest.depth++] = loop;
  }
  while (absorb_loop(nest) || fuse_loops(nest)) {
  }
  std::sort(nest.loops, nest.loops + nest.depth,
            [](const Loop& a, const Loop& b) { return a.target_stride < b.target_stride; });
  return nest;
}

}  // namespace plait::copy
