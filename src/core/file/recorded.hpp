/// The events of a File and its streams in a trace.
#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/recorder.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plan/section/section.hpp"

namespace plait::core {

/// The bytes that this process requests in one access, and the offset of the first of them.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
/// Returns the extent of an access to a section.  rank: -1 for all ranks of the layout.
Extent requested_extent(const plan::Section& section, const Layout& layout, std::int64_t rank,
                        std::int64_t element_bytes, std::int64_t data_offset);

/// Returns the result of the event of a call that has failed: a negative errno.
inline std::int64_t error_result(const Error& error) {
  if (error.system_code() != 0) return -error.system_code();
  return error.kind() == ErrorKind::kArgument ? -EINVAL : -EIO;
}

/// The event of a call without its extent and its result.
struct CallEvent {
  plait_event_kind kind;
  std::uint32_t file = 0;
  unsigned flags = 0;
};

/// Adds the event of a call to the trace.  result: bytes, or the error_result() of an error.
inline void record(const base::RecordedCall& call, const CallEvent& event, const Extent& extent, std::int64_t result) {
  call.end(event.kind, {event.file, extent.offset, extent.bytes, result}, event.flags);
}

/// Runs `body`, which returns the number of bytes that it has moved, and adds the event of the call to the trace, with
/// that number or with the error of `body`.
/// find_extent: returns the Extent; called after `body`.
template <typename FindExtent, typename Body>
void record_call(const base::RecordedCall& call, const CallEvent& event, FindExtent&& find_extent, Body&& body) {
  const base::OperationScope scope(call);
  if (!call.is_recorded()) {
    body();
    return;
  }
  try {
    const std::int64_t moved_bytes = body();
    record(call, event, find_extent(), moved_bytes);
  } catch (const Error& error) {
    Extent extent{-1, 0};
    try {
      extent = find_extent();
    } catch (const Error&) {  // the arguments are invalid, so there is no extent
    }
    record(call, event, extent, error_result(error));
    throw;
  }
}

}  // namespace plait::core
