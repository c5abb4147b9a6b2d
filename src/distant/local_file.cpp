#include "distant/local_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/errors.hpp"
#include "base/files/write_all.hpp"
#include "base/text.hpp"

namespace plait::distant {

namespace {

/// Linux transfers at most 2 GiB - 4 KiB per call.
constexpr std::size_t kMaxBytesACall = std::size_t{1} << 30;

int open_flags(DistantMode mode, bool create) {
  const int access = mode == DistantMode::kRead ? O_RDONLY : O_RDWR;
  // O_NONBLOCK: opening a FIFO must not wait for its other end; anything but an ordinary file is rejected below.
  return access | O_NONBLOCK | (create && mode == DistantMode::kWrite ? O_CREAT | O_TRUNC : 0);
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

LocalFile::LocalFile(const std::string& path, DistantMode mode, int rank, bool create, bool named)
    : path_(std::filesystem::absolute(path).string()),
      where_(base::text(path_, " on rank ", rank, " (host ", host_name(), ")")),
      writable_(mode != DistantMode::kRead),
      named_(named),
      file_(store::posix::open_file(path_, open_flags(mode, create), 0666, where_)) {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  if (!S_ISREG(status.st_mode))
    base::throw_system_error(EINVAL, where_, " is not an ordinary file; name one, or a new one");
}

FileIdentity LocalFile::identity() const {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  return {status.st_dev, status.st_ino};
}

void LocalFile::check_writable() const {
  if (!writable_) base::throw_argument_error(where_, " is open there to read only; offer it in mode \"r+\"");
}

void LocalFile::fail(const std::string& what, int code) const {
  throw store::posix::system_error(base::text(what, ' ', where_), code);
}

std::size_t LocalFile::read_available(std::int64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::size_t part = std::min(into.size() - done, kMaxBytesACall);
    const ssize_t got = ::pread(file_.number(), into.data() + done, part, offset + static_cast<std::int64_t>(done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      fail(base::text("read ", into.size(), " bytes at offset ", offset, " of"), errno);
    }
  }
  return done;
}

void LocalFile::read(std::int64_t offset, std::span<std::byte> into) const {
  if (read_available(offset, into) < into.size())
    base::throw_system_error(ENODATA, "cannot read ", into.size(), " bytes at offset ", offset, " of ", where_,
                             ": the file ends at ", size(), "; read within it, or write there first");
}

void LocalFile::read_part(std::int64_t offset, std::span<std::byte> into) const {
  const std::span<std::byte> rest = into.subspan(read_available(offset, into));
  std::ranges::fill(rest, std::byte{0});
}

bool LocalFile::read_cached(std::int64_t offset, std::span<std::byte> into) const noexcept {
  iovec target{into.data(), into.size()};
  return ::preadv2(file_.number(), &target, 1, offset, RWF_NOWAIT) == static_cast<ssize_t>(into.size());
}

void LocalFile::write(std::int64_t offset, std::span<const std::byte> from) const {
  check_writable();
  if (const int code = base::write_all(file_.number(), from, offset); code != 0)
    fail(base::text("write ", from.size(), " bytes at offset ", offset, " of"), code);
}

void LocalFile::sync() const {
  struct stat status{};
  if (::fdatasync(file_.number()) != 0) fail("sync", errno);
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  if (named_ && status.st_nlink == 0)
    base::throw_system_error(ENOENT, "cannot sync ", where_, ": the file has been removed");
}

std::int64_t LocalFile::size() const {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  return status.st_size;
}

void LocalFile::resize(std::int64_t bytes) const {
  check_writable();
  while (::ftruncate(file_.number(), bytes) != 0)
    if (errno != EINTR) fail(base::text("give ", bytes, " bytes to"), errno);
}

void LocalFile::remove() const {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("remove", errno);
}

}  // namespace plait::distant
