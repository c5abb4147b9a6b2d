/// What connections carry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace plait::transport::native {

using Clock = std::chrono::steady_clock;

/// Frames follow each other in either direction: this head, 24 bytes in the byte order of the sender, which the hello
/// of a connection has compared, and then `bytes` bytes.
struct FrameHead {
  std::uint32_t kind = 0;   ///< the layer above says what it means
  std::uint32_t flags = 0;  ///< likewise
  std::uint64_t tag = 0;    ///< likewise: most often which request it belongs to
  std::uint64_t bytes = 0;  ///< of its body
};

/// The longest body that a server takes; longer ones end the connection.
inline constexpr std::uint64_t kMostReceived = std::uint64_t{1} << 20;
/// The longest frame of a stream: other frames pass between two of them.
inline constexpr std::uint64_t kMostStreamed = std::uint64_t{1} << 18;

}  // namespace plait::transport::native
