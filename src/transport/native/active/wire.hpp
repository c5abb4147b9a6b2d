/// The frames on the connections of active messages.  A frame is a FrameHead with a kind, a tag and a length, and then
/// a body (native/frame.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/active_messages.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// A connection carries the calls of the process that has opened it (the caller), and the answers of the other one (the
/// callee).
enum class ActiveFrame : std::uint32_t {
  kIntroduction = 1,  ///< the first frame of the caller; tag: its rank
  kCall,              ///< tag: chosen by the caller; a WireCall, then the payload
  kAnswer,            ///< tag: that of the call; the data, which fill Call::output
  kRejection,         ///< tag: that of the call; a WireRejection, then a text
  kLeaving,           ///< the sender closes the connection on purpose, and is not lost
  kWelcome,           ///< the callee serves the calls of this rank
  kLost,              ///< tag: a rank that has ended without kLeaving, as far as the sender knows
};

struct WireCall {
  CallHead head{};
  std::int64_t output_bytes = 0;
};

struct WireRejection {
  std::int32_t kind = 0;
  std::int32_t code = 0;
};

/// Maximum bytes at the beginning of a body that are received before the destination of the rest is known
/// (frame_input.hpp).
inline constexpr std::size_t kMaxPrefix = 2048;

inline FrameHead frame_head(ActiveFrame kind, std::uint64_t tag, std::uint64_t bytes = 0) {
  return {static_cast<std::uint32_t>(kind), 0, tag, bytes};
}

}  // namespace plait::transport::native
