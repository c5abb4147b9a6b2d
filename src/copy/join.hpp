/// Concatenates runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::copy {

/// A range of `bytes` > 0 contiguous bytes.
struct Run {
  const std::byte* from;
  std::int64_t bytes;
};

/// Concatenates runs in a target. Whole cache lines of 64 bytes are assembled in a register and written by non-temporal
/// stores, which need fence() afterwards (see strided_copy.hpp). Only the first and the last line may be stored in
/// parts.
/// pre      The target overlaps no run.
/// touches  Reads and writes the bytes of the runs only.
/// threads  Any; no shared state.
void join(std::byte* target, std::span<const Run> runs);

}  // namespace plait::copy
