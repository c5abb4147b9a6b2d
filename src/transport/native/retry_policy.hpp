/// How long and how often a process tries to connect to another one.
#pragma once

#include <chrono>

namespace plait::transport::native {

/// A host that does not answer for this long is lost.  A shorter interruption of the network is survived.
inline constexpr std::chrono::seconds kLostAfter{9};

/// Maximum number of attempts if the peer closes the connection before it accepts the handshake, and the delay added
/// before each further one.  A server closes connections whose handshake is late, or if too many wait.
inline constexpr int kMaxTries = 10;
inline constexpr std::chrono::milliseconds kRetryDelay{50};

}  // namespace plait::transport::native
