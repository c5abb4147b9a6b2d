/// The processes of a node, and the detection of their ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::shared_memory {

/// The identity of a process for other processes.  Numbers are comparable only within one PID namespace.
struct ProcessIdentity {
  std::int64_t name_space = 0;
  std::int64_t number = 0;
  std::int64_t started = 0;
};

ProcessIdentity this_process_identity();

/// Returns a watch for each process; nullptr for this process, and if the kernel does not support it.
std::vector<std::shared_ptr<const base::ProcessWatch>> watch(std::span<const ProcessIdentity> all);

/// Returns a hash of numbers in this order: FNV-1a, folded to 62 bits.
std::int64_t hash_numbers(std::span<const std::int64_t> numbers);

/// errors  kSystem (EOWNERDEAD): the worker has ended; the text is the same in all transports.
[[noreturn]] void throw_ended(int worker);

/// For a worker that waits.  An interrupted worker takes part in no further agreements, like one that has left, because
/// the others may have got a part of its contribution.  `own`, its note, notifies them.
/// errors  kSystem, EINTR: it is interrupted.
void check_interruption(int worker, const Progress& progress, Departure& own);

}  // namespace plait::transport::shared_memory
