/// Requests to a file as a trace of Plait's own events has them.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/recorder.hpp"

namespace plait::store::posix {

/// Linux moves at most 2 GiB - 4 KiB a call.
inline constexpr std::int64_t kMostBytesACall = std::int64_t{1} << 30;

/// How a store is called in a trace: named when it is first used, since many are opened only to be looked at.
class RecordedFile {
 public:
  explicit RecordedFile(const std::string& path) : path_(path) {}
  std::uint32_t number();

 private:
  const std::string& path_;
  std::once_flag once_;
  std::uint32_t number_ = 0;
};

/// What one call asks the system for.
struct SystemCall {
  plait_event_kind kind;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool look = false;  // only into the cache
};

/// Makes one call and keeps it in the trace.  Looks into the cache that found nothing are no requests.
template <typename Call>
auto recorded(RecordedFile& file, const SystemCall& asked, Call&& call) {
  const base::RecordedRequest reaching(asked.kind);
  const auto result = call();
  if (reaching.kept() && !(asked.look && result <= 0))
    reaching.end({file.number(), asked.offset, asked.look ? result : std::min(asked.bytes, kMostBytesACall),
                  result < 0 ? -errno : result});
  return result;
}

}  // namespace plait::store::posix
