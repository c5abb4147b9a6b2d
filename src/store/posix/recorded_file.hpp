/// Records system calls on a file as events of Plait's trace.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/recorder.hpp"

namespace plait::store::posix {

/// Maximum number of bytes in one read or write call; Linux transfers at most 2 GiB - 4 KiB.
inline constexpr std::int64_t kMaxBytesPerCall = std::int64_t{1} << 30;

/// The number under which a file appears in the trace. It is assigned at the first use, because many files are opened
/// only to examine them and should not appear.
class RecordedFile {
 public:
  /// `path` must outlive the object.
  explicit RecordedFile(const std::string& path) : path_(path) {}
  std::uint32_t number();

 private:
  const std::string& path_;
  std::once_flag once_;
  std::uint32_t number_ = 0;
};

/// The arguments of a system call.
struct SystemCall {
  plait_event_kind kind;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool reads_only_cached = false;  // true if the call reads only bytes in the page cache (RWF_NOWAIT)
};

/// Calls `call()`, which makes a system call, records it in the trace and returns its result. A read of cached bytes
/// that finds none is not recorded.
template <typename Call>
auto record_call(RecordedFile& file, const SystemCall& arguments, Call&& call) {
  const base::RecordedRequest request(arguments.kind);
  const auto result = call();
  if (!request.is_recorded() || (arguments.reads_only_cached && result <= 0)) return result;
  const std::int64_t requested = arguments.reads_only_cached ? result : std::min(arguments.bytes, kMaxBytesPerCall);
  request.end({file.number(), arguments.offset, requested, result < 0 ? -errno : result});
  return result;
}

}  // namespace plait::store::posix
