/// What goes over the connections of active messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/active_messages.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// A connection carries the calls of who made it, and answers to them.
enum class ActiveFrame : std::uint32_t {
  kIntroduction = 1,  ///< first, of who made the connection; tag: its rank
  kCall,              ///< tag: of the caller; a WireCall, then the payload
  kAnswer,            ///< tag: the call's; what fills its room
  kRefusal,           ///< tag: the call's; a WireRejection, then a text
  kLeaving,           ///< the sender hangs up, and has not been lost
  kWelcome,           ///< of who has been called: it serves the rank
  kLost,              ///< tag: a rank that has ended without taking leave, by what the sender knows
};

struct WireCall {
  CallHead head{};
  std::int64_t output_bytes = 0;
};

struct WireRejection {
  std::int32_t kind = 0;
  std::int32_t code = 0;
};

/// What comes in one piece after the head of a frame, at most.
inline constexpr std::size_t kMaxPrefix = 2048;

inline FrameHead frame_head(ActiveFrame kind, std::uint64_t tag, std::uint64_t bytes = 0) {
  return {static_cast<std::uint32_t>(kind), 0, tag, bytes};
}

}  // namespace plait::transport::native
