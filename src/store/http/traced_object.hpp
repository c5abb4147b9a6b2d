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
  base::DetachedRequest attempt{};  ///< start of the attempt in flight, and the operation that it belongs to
};

/// Records the time at which an attempt of a call begins. Called by the client's thread.
void begin_traced_attempt(Call& call);
/// Records an attempt that has ended. Each attempt is an event, so that a trace shows what was repeated.
/// received: bytes of the body. complete: false if the response is not used.
void record_traced_attempt(const Call& call, std::int64_t received, bool complete);

}  // namespace plait::store::http
