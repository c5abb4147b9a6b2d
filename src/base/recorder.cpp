#include "base/recorder.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>

namespace plait::base {

namespace {

// First numbers of files and operations. They are large, because the library that records foreign programs counts from
// 1 in the same process.
constexpr std::uint32_t kFirstFile = 0x40000000;
constexpr std::uint64_t kFirstOperation = std::uint64_t{1} << 40U;

std::string command() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string line{std::istreambuf_iterator<char>(in), {}};
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

/// Initialized by a search for the library that records foreign programs. If that library is used, it is loaded before
/// this one.
[[maybe_unused]] const bool has_searched_recorder = [] {
  plait_events_pause = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "plait_capture_pause"));
  return true;
}();

const char* setting(const char* name) { return std::getenv(name); }

void begin(int rank) {
  const char* path = std::getenv("PLAIT_TRACE");
  if (path == nullptr || *path == '\0') return;
  const int job_rank = plait_events_job_rank(setting);
  const int error =
      plait_events_begin(path, command().c_str(), job_rank >= 0 ? job_rank : rank, kFirstFile, kFirstOperation);
  if (error == 0) {
    std::atexit(plait_events_end);
  } else if (error == EEXIST) {
    std::fprintf(
        stderr,
        "plait: PLAIT_TRACE=%s: nothing is recorded: a file of that name exists and is not a trace that can be added "
        "to; remove it or give another name\n",
        path);
  } else {
    std::fprintf(stderr, "plait: PLAIT_TRACE=%s: nothing is recorded: %s\n", path, std::strerror(error));
  }
}

/// Completes and records an event, whose start and operation are set and which ends now.
void put_event(plait_event event, plait_event_interface interface, plait_event_kind kind,
               const RecordedAccess& access) {
  event.duration = plait_events_now() - event.start;
  event.offset = access.offset;
  event.length = access.length;
  event.result = access.result;
  event.file = access.file;
  event.kind = static_cast<std::uint8_t>(kind);
  event.interface = static_cast<std::uint8_t>(interface);
  plait_events_put(&event);
}

}  // namespace

thread_local std::uint64_t OperationScope::current_ = 0;

void begin_recording(int rank) {
  static std::once_flag once;
  std::call_once(once, begin, rank);
}

std::uint32_t recorded_name(const std::string& name) { return recording() ? plait_events_name(name.c_str()) : 0; }

void RecordedCall::begin() {
  start_ = plait_events_now();
  operation_ = plait_events_operation();
}

void RecordedCall::end(plait_event_kind kind, const RecordedAccess& access, unsigned flags) const {
  if (!is_recorded()) return;
  plait_event event{};
  event.start = start_;
  event.operation = operation_;
  event.flags = static_cast<std::uint16_t>(flags | PLAIT_EVENT_LOGICAL);
  put_event(event, PLAIT_INTERFACE_PLAIT, kind, access);
}

void RecordedRequest::begin() noexcept {
  if (plait_events_pause != nullptr) plait_events_pause(1);
  start_ = plait_events_now();
}

void RecordedRequest::resume() const noexcept {
  if (plait_events_pause != nullptr) plait_events_pause(0);
}

void RecordedRequest::end(const RecordedAccess& access) const noexcept {
  if (start_ == 0) return;
  const int saved = errno;
  plait_event event{};
  event.start = start_;
  event.operation = OperationScope::operation();
  put_event(event, PLAIT_INTERFACE_POSIX, kind_, access);
  errno = saved;
}

void record_http(const DetachedRequest& request, const RecordedAccess& access) {
  if (!recording()) return;
  plait_event event{};
  event.start = request.start;
  event.operation = request.operation;
  event.flags = PLAIT_EVENT_ASYNCHRONOUS;  // one thread has many such requests in flight
  put_event(event, PLAIT_INTERFACE_HTTP, request.kind, access);
}

}  // namespace plait::base
