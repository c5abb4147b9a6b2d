/// Limits of attempts to connect to another process.
#pragma once

#include <chrono>

namespace plait::transport::native {

/// A host that does not answer for this long counts as lost.  Connections survive shorter interruptions of the network.
inline constexpr std::chrono::seconds kLostAfter{9};

/// Maximum number of attempts if the peer closes the connection before it accepts the handshake, and the delay added
/// before each further one.  A server closes connections whose handshake is late, or if too many wait.
inline constexpr int kMaxTries = 10;
inline constexpr std::chrono::milliseconds kRetryDelay{50};

}  // namespace plait::transport::native
