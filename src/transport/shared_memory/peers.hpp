/// The processes of a node, and the end of each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::shared_memory {

/// A process as others see it.  Numbers mean the same only inside one namespace.
struct ProcessIdentity {
  std::int64_t name_space = 0;
  std::int64_t number = 0;
  std::int64_t started = 0;
};

ProcessIdentity this_process_identity();

/// Watches each of them but this process: nullptr for that, and where the kernel offers no watch.
std::vector<std::shared_ptr<const base::ProcessWatch>> watch(std::span<const ProcessIdentity> all);

/// A number of numbers in this order: FNV-1a, folded to 62 bits.
std::int64_t hash_of(std::span<const std::int64_t> numbers);

/// errors  kSystem (EOWNERDEAD): the worker has ended, in the words of all transports.
[[noreturn]] void throw_ended(int worker);

/// For a worker that waits.  One that is interrupted takes part in nothing any more, as one that has left: the others
/// may have got a part of what it was to do.  `own`, its note, tells them.
/// errors  kSystem, EINTR: it is interrupted.
void check_interruption(int worker, const Progress& progress, Departure& own);

}  // namespace plait::transport::shared_memory
