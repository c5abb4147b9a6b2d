#include "base/files/write_all.hpp"

#include <unistd.h>

#include <cerrno>

namespace plait::base {

int write_all(int file, std::span<const std::byte> bytes, std::int64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  return 0;
}

}  // namespace plait::base
