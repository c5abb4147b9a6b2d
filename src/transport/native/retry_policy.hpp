/// How long, and how often, a process is tried that is to be connected to.
#pragma once

#include <chrono>

namespace plait::transport::native {

/// After so long without any answer a host counts as lost; before, its network may be back.
inline constexpr std::chrono::seconds kLostAfter{9};

/// How often a connection is made anew that the other end closes before it counts, and how much later each time: a
/// server lets go of who proves himself late, as over a network that was away, or where it has too many callers.
inline constexpr int kMaxTries = 10;
inline constexpr std::chrono::milliseconds kRetryDelay{50};

}  // namespace plait::transport::native
