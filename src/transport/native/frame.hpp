/// The frames that connections carry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace plait::transport::native {

using Clock = std::chrono::steady_clock;

/// Frames follow each other in both directions.  A frame is this header of 24 bytes, and then `bytes` bytes of body.
/// The byte order is the sender's; the handshake has checked that both are equal.
struct FrameHead {
  std::uint32_t kind = 0;   ///< defined by the layer above
  std::uint32_t flags = 0;  ///< defined by the layer above
  std::uint64_t tag = 0;    ///< defined by the layer above, usually the number of a request
  std::uint64_t bytes = 0;  ///< length of the body
};

/// The longest body that a server accepts; a longer one ends the connection.
inline constexpr std::uint64_t kMaxReceive = std::uint64_t{1} << 20;
/// The longest frame of a stream (Peer::stream in server.hpp).  Other frames can be sent between two frames of a
/// stream.
inline constexpr std::uint64_t kMaxStream = std::uint64_t{1} << 18;

}  // namespace plait::transport::native
