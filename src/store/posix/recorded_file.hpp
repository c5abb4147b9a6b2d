/// Records system calls on a file as events of Plait's trace.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/recorder.hpp"

namespace plait::store::posix {

/// Maximum bytes of a call; Linux moves at most 2 GiB - 4 KiB.
inline constexpr std::int64_t kMaxBytesACall = std::int64_t{1} << 30;

/// The number of a store in a trace. It is assigned at the first use, because many stores are opened only to be
/// examined.
class RecordedFile {
 public:
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
  bool look = false;  // true if the call reads only bytes that are cached (RWF_NOWAIT)
};

/// Makes a call and records it in the trace. A read of cached bytes that finds none is not recorded.
template <typename Call>
auto recorded(RecordedFile& file, const SystemCall& arguments, Call&& call) {
  const base::RecordedRequest request(arguments.kind);
  const auto result = call();
  if (request.is_recorded() && !(arguments.look && result <= 0))
    request.end({file.number(), arguments.offset, arguments.look ? result : std::min(arguments.bytes, kMaxBytesACall),
                 result < 0 ? -errno : result});
  return result;
}

}  // namespace plait::store::posix
