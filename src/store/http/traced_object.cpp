// Events of requests for objects.
//
// Example: a read of 100 bytes at offset 400 of `s3://b/a.npy`. The first attempt ends with status 503 after 20 ms, the
// second one with 206 after 30 ms. The trace gets a read of 100 bytes at offset 400 with the result -EAGAIN, and a
// second one with the result 100.

#include "store/http/traced_object.hpp"

#include <algorithm>
#include <cerrno>

#include "store/http/request.hpp"

namespace plait::store::http {

namespace {

/// Returns the errno that a response stands for; 0 if the request has succeeded.
int to_traced_errno(const Call& call, bool complete) {
  if (!call.error.empty()) return call.error_code != 0 ? call.error_code : EIO;
  if (call.abandoned) return ECANCELED;
  switch (call.response.status) {
    case 304:
    case 416: return 0;  // no bytes, as at the end of a file
    case 401:
    case 403: return EACCES;
    case 404: return ENOENT;
    case 409:
    case 412: return ESTALE;
    case 429:
    case 503: return EAGAIN;
    default: return call.response.ok() && complete ? 0 : EIO;
  }
}

}  // namespace

void begin_traced_attempt(Call& call) {
  if (call.traced.file != 0) call.traced.attempt.start = plait_events_now();
}

void record_traced_attempt(const Call& call, std::int64_t received, bool complete) {
  const TracedObject& traced = call.traced;
  if (traced.file == 0) return;
  base::DetachedRequest ended = traced.attempt;
  ended.kind = traced.kind;
  base::RecordedAccess access{traced.file, traced.offset, traced.bytes, -to_traced_errno(call, complete)};
  if (traced.kind == PLAIT_EVENT_METADATA) access.length = 0;
  if (traced.kind == PLAIT_EVENT_READ && access.result == 0 && call.response.ok()) {
    // A response with the whole object states no range.
    access.offset = parse_content_range(call.response.header("content-range")).value_or(ContentRange{}).first;
    // Some servers answer a request for a range with the whole object.
    access.length = std::max(traced.bytes, received);
    access.result = received;
  }
  access.length = std::max<std::int64_t>(access.length, 0);
  if (traced.kind == PLAIT_EVENT_WRITE && access.result == 0) access.result = access.length;
  base::record_http(ended, access);
}

}  // namespace plait::store::http
