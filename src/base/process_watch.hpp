/// Detects the end of other processes on this system.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/descriptor.hpp"

namespace plait::base {

/// Identifies a process. Numbers are reused after a process has ended, so the start time is needed too.
struct ProcessId {
  std::int64_t number = 0;
  std::int64_t started = 0;  ///< in the kernel's clock ticks; 0: not available

  auto operator<=>(const ProcessId&) const = default;
};

ProcessId this_process();

/// Detects the end of one process.
class ProcessWatch {
 public:
  /// Returns a watch that is shared by all callers; nullptr if the system has no descriptors of processes, or permits
  /// no more of them.
  static std::shared_ptr<const ProcessWatch> find_or_open(const ProcessId& process);

  ProcessWatch(Descriptor descriptor, bool ended) : descriptor_(std::move(descriptor)), ended_(ended) {}
  /// Returns true if the process has ended.
  bool ended() const;

 private:
  Descriptor descriptor_;
  bool ended_;  // the process ended before it was watched
};

}  // namespace plait::base
