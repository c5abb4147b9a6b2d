/// The objects that requests read and write, for a trace of Plait's own requests (base/recorder.hpp).
#pragma once

#include <cstdint>

#include "base/recorder.hpp"

namespace plait::store::http {

struct Call;

/// The part of an object that a request reads or writes.
struct TracedObject {
  std::uint32_t file = 0;  ///< number of the object in the trace; 0: the request is not recorded
  plait_event_kind kind = PLAIT_EVENT_READ;
  std::int64_t offset = 0;          ///< -1: the response states it
  std::int64_t bytes = 0;           ///< -1: as many as the response has
  base::DetachedRequest attempt{};  ///< the attempt in flight
};

/// Begins an attempt of a call. Called by the client's thread.
void begin_traced(Call& call);
/// Records an attempt that has ended. Each attempt is an event, so that a trace shows what was repeated.
/// received: bytes of the body. complete: false if the response is not used.
void end_traced(const Call& call, std::int64_t received, bool complete);

}  // namespace plait::store::http
