/// Limits of attempts to connect to another process.
#pragma once

#include <chrono>

namespace plait::transport::native {

/// A host that does not answer for this long counts as lost.  Connections survive shorter interruptions of the network.
inline constexpr std::chrono::seconds kLostAfter{9};

/// Maximum number of attempts if the peer closes the connection before it accepts the handshake.  A server closes
/// connections whose handshake takes too long, or if too many wait.
inline constexpr int kMaxTries = 10;
/// Attempt n + 1 begins n times this delay after attempt n.
inline constexpr std::chrono::milliseconds kRetryDelay{50};

}  // namespace plait::transport::native
