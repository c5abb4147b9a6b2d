/// Puts runs one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::copy {

/// `bytes` > 0 bytes that follow each other.
struct Run {
  const std::byte* from;
  std::int64_t bytes;
};

/// Puts runs into a target one behind the other.  Whole lines of 64 bytes leave past the caches, unsettled (see
/// strided_copy.hpp), put together in a register; only the first and the last one may be stored in part.
/// pre      The target overlaps no run.
/// touches  Reads and writes the bytes of the runs only.
/// threads  Any; no shared state.
void join(std::byte* target, std::span<const Run> runs);

}  // namespace plait::copy
