/// The processes of a node, and the detection of their ends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::shared_memory {

/// Identifies a process for other processes.
struct ProcessIdentity {
  std::int64_t name_space = 0;  ///< its PID namespace: numbers are comparable only within one
  std::int64_t number = 0;
  std::int64_t started = 0;  ///< start time: numbers are reused
};

ProcessIdentity this_process_identity();

/// Returns a watch for each process; nullptr for this process, for processes of other PID namespaces, and if the kernel
/// does not support watches.
std::vector<std::shared_ptr<const base::ProcessWatch>> watch(std::span<const ProcessIdentity> all);

/// Returns a hash of numbers in this order: FNV-1a, folded to 62 bits.
std::int64_t hash_numbers(std::span<const std::int64_t> numbers);

/// errors  kSystem (EOWNERDEAD): the worker has ended; the text is the same in all transports.
[[noreturn]] void throw_ended(int worker);

/// Checks, while this process waits as `worker`, if a signal asks to interrupt the wait.  An interrupted worker takes
/// part in no further agreements, like one that has left, because the others may have received a part of its
/// contribution.  Therefore its departure is recorded in `own`, its slot.
/// errors  kSystem, EINTR: the wait is interrupted.
void check_interruption(int worker, const Progress& progress, Departure& own);

}  // namespace plait::transport::shared_memory
