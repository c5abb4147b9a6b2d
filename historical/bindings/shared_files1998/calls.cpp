#include "calls.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "codes.hpp"
#include "numbers.hpp"
#include "plait/error.hpp"
#include "requests.hpp"

namespace plait::ga {

namespace {

using base::text;

/// A range of a file as the program passes it, and the buffer in memory.
struct Stretch {
  std::int64_t handle;
  double offset;
  double bytes;
  const void* buffer;
};

/// Checks the numbers in `range`, starts the request that `begin` makes, and stores its number in `id`.
/// Returns `otherwise` for an error that has no code of its own.
template <typename Begin>
int start(Code otherwise, const Stretch& range, int& id, Begin&& begin) noexcept {
  id = kNoId;
  return guarded(otherwise, [&] {
    const std::int64_t at = whole(range.offset, "offset");
    const std::int64_t size = whole(range.bytes, "bytes");
    if (range.buffer == nullptr && size > 0) throw_error(text("no buffer was given for ", size, " bytes"));
    id = keep({begin(*find_open_file(range.handle), at, size), otherwise == kNoWrite});
  });
}

}  // namespace

int create_file(const CreateArguments& arguments, int& handle) noexcept {
  return guarded(kNoOpen, [&] { handle = create(arguments); });
}

int destroy_file(std::int64_t handle) noexcept {
  return guarded(kNoDelete, [&] { destroy(handle); });
}

int close_file(std::int64_t handle) noexcept {
  return guarded(kFailed, [&] { find_open_file(handle)->open = false; });
}

int open_file(std::int64_t handle) noexcept {
  return guarded(kNoOpen, [&] {
    const std::shared_ptr<SharedEntry> entry = find_file(handle);
    entry->open = true;
    entry->writable = true;
  });
}

int make_read_only(std::int64_t handle) noexcept {
  return guarded(kNoOpen, [&] { find_open_file(handle)->writable = false; });
}

int sync_file(std::int64_t handle) noexcept {
  return guarded(kNoSync, [&] { find_open_file(handle)->file->sync(); });
}

int start_write(std::int64_t handle, double offset, double bytes, const void* buffer, int& id) noexcept {
  return start(kNoWrite, {handle, offset, bytes, buffer}, id,
               [&](SharedEntry& entry, std::int64_t at, std::int64_t size) {
                 if (!entry.writable)
                   throw_error(text(entry.path, " is open for reading only; call SF_Open to write again"), EROFS);
                 return entry.file->start_write(at, buffer, size);
               });
}

int start_read(std::int64_t handle, double offset, double bytes, void* buffer, int& id) noexcept {
  return start(
      kNoRead, {handle, offset, bytes, buffer}, id,
      [&](SharedEntry& entry, std::int64_t at, std::int64_t size) { return entry.file->start_read(at, buffer, size); });
}

int wait(std::int64_t id) noexcept {
  if (id == kNoId) return kOk;
  std::optional<Pending> pending;
  const int status = guarded(kNoRequest, [&] {
    pending = take(id);
    if (!pending)
      throw_error(text("there is no request ", id, " under way; pass one that SF_Read or SF_Write returned"), ESRCH);
  });
  if (status != kOk) return status;
  return guarded(pending->writes ? kNoWrite : kNoRead, [&] { pending->request.wait(); });
}

template <typename Integer>
int wait_all(Integer* ids, std::int64_t count) noexcept {
  return guarded(kFailed, [&] {
    if (count < 0) throw_error(text(count, " requests were given; pass 0 or more"));
    if (count > 0 && ids == nullptr) throw_error("the list of requests is missing");
    std::string first;
    for (std::int64_t i = 0; i < count; ++i) {
      const int code = wait(std::exchange(ids[i], Integer{kNoId}));
      if (code != kOk && first.empty()) first = describe_code(code);
    }
    if (!first.empty()) throw_error(first);
  });
}

template int wait_all(std::int32_t* ids, std::int64_t count) noexcept;
template int wait_all(std::int64_t* ids, std::int64_t count) noexcept;

int reject_argument(const char* message) noexcept {
  return guarded(kFailed, [&] { throw_error(message); });
}

std::size_t put_text(std::int64_t code, char* buffer, std::size_t capacity) noexcept {
  try {
    constexpr std::int64_t kFar = 1000000;  // beyond all codes
    const std::string text = describe_code(static_cast<int>(std::clamp(code, -kFar, kFar)));
    const std::size_t length = std::min(capacity, text.size());
    std::copy_n(text.begin(), length, buffer);
    return length;
  } catch (...) {  // no memory for the text
    return 0;
  }
}

}  // namespace plait::ga
