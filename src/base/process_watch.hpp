/// Other processes of this system, and their end.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/descriptor.hpp"

namespace plait::base {

/// Which process it is.  Numbers come back when processes have ended: the time of the start tells them apart.
struct ProcessId {
  std::int64_t number = 0;
  std::int64_t started = 0;  ///< in the kernel's clock ticks; 0: the system does not tell

  auto operator<=>(const ProcessId&) const = default;
};

ProcessId this_process();

/// A process that is watched.
class ProcessWatch {
 public:
  /// One for all who watch it; nullptr where the system offers no descriptors of processes, or permits no
  /// more of them.
  static std::shared_ptr<const ProcessWatch> of(const ProcessId& process);

  ProcessWatch(Descriptor descriptor, bool ended) : descriptor_(std::move(descriptor)), ended_(ended) {}
  bool ended() const;

 private:
  Descriptor descriptor_;
  bool ended_;  // before it was watched
};

}  // namespace plait::base
