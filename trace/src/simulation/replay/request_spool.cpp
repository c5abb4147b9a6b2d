// Chunks of requests in memory and, beyond 64 MiB, in an unlinked temporary file.

#include "simulation/replay/request_spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/errors.hpp"
#include "base/files/write_all.hpp"
#include "base/text.hpp"

namespace plait::simulation {

namespace {

constexpr std::int64_t kMaxMemoryBytes = std::int64_t{64} << 20;
static_assert(std::is_trivially_copyable_v<Request>);

[[noreturn]] void fail(std::string_view what, int code) {
  base::throw_system_error(code, "cannot ", what, " the temporary file of a replay: ", std::strerror(code),
                           "; free room there, or set TMPDIR to another folder");
}

}  // namespace

RequestSpool::~RequestSpool() {
  if (file_ >= 0) ::close(file_);
}

void RequestSpool::open_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string name = base::text(folder != nullptr && *folder != 0 ? folder : "/tmp", "/plait-replay-XXXXXX");
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("make", errno);
  ::unlink(name.c_str());
}

std::size_t RequestSpool::add(std::span<const Request> chunk) {
  const auto bytes = static_cast<std::int64_t>(chunk.size_bytes());
  bytes_ += bytes;
  if (memory_bytes_ + bytes <= kMaxMemoryBytes) {
    memory_bytes_ += bytes;
    chunks_.push_back({-1 - static_cast<std::int64_t>(memory_.size()), chunk.size()});
    memory_.emplace_back(chunk.begin(), chunk.end());
    return chunks_.size() - 1;
  }
  if (file_ < 0) open_file();
  if (const int code = base::write_all(file_, std::as_bytes(chunk), file_bytes_); code != 0) fail("write", code);
  chunks_.push_back({file_bytes_, chunk.size()});
  file_bytes_ += bytes;
  return chunks_.size() - 1;
}

void RequestSpool::read(std::size_t chunk, std::vector<Request>& into) const {
  const Chunk& entry = chunks_[chunk];
  if (entry.location < 0) {
    into = memory_[static_cast<std::size_t>(-1 - entry.location)];
    return;
  }
  into.resize(entry.count);
  const auto bytes = static_cast<std::int64_t>(entry.count * sizeof(Request));
  char* data = reinterpret_cast<char*>(into.data());
  for (std::int64_t bytes_read = 0; bytes_read < bytes;) {
    const ssize_t count =
        ::pread(file_, data + bytes_read, static_cast<std::size_t>(bytes - bytes_read), entry.location + bytes_read);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("read", count < 0 ? errno : EIO);
    bytes_read += count;
  }
}

}  // namespace plait::simulation
