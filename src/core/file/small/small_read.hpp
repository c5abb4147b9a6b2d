/// Small reads of one process without a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plait/file.hpp"

namespace plait::core {

/// Maximum bytes of a read without a plan.  A longer read takes so long that the cost of a plan is negligible.
inline constexpr std::int64_t kMaxSmallRead = std::int64_t{1} << 20;

/// Reads a region into `data`, as a dense array in the order of the file, if the region is small and this process has
/// the file for itself.
///
/// Returns false, and leaves the contents of `data` undefined, if File::read() must read the region: it is larger than
/// kMaxSmallRead bytes or has too many runs, it is invalid, a trace is recorded, the caller has chosen a strategy, or
/// the read has failed.  File::read() then reports the error.  Not collective.
/// errors  kSystem with EINTR: the user has interrupted the read.
/// region  One slice for each dimension; empty for the whole array.
/// threads Any; reads take turns.
bool read_small(File& file, const Region& region, std::span<std::byte> data);

}  // namespace plait::core
