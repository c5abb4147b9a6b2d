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
#include "store/posix/replacement.hpp"

namespace plait::distant {

namespace {

/// Maximum bytes that are transferred before the next check if the owner has closed the file.
constexpr std::size_t kUncheckedBytes = std::size_t{1} << 20;

int open_flags(DistantMode mode, bool create) {
  const int access = mode == DistantMode::kRead ? O_RDONLY : O_RDWR;
  // O_NONBLOCK: opening a FIFO must not wait for its other end; anything but an ordinary file is rejected below.
  return access | O_NONBLOCK | (create && mode == DistantMode::kWrite ? O_CREAT | O_TRUNC : 0);
}

std::string describe_file(const std::string& path, int rank) {
  return base::text(path, " on rank ", rank, " (host ", host_name(), ")");
}

FileIdentity to_identity(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// Opens a file of another process of this host. Only a file with the same device and number is opened: the path may
/// lead to another file in this process's mount namespace, and the process number to another process in its PID
/// namespace. Opening that file could have effects of its own if it were a device.
store::posix::Descriptor open_located(const FileLocation& location, const std::string& where) {
  const int flags = open_flags(location.writable ? DistantMode::kReadWrite : DistantMode::kRead, false);
  const std::string through_owner = base::text("/proc/", location.process, "/fd/", location.descriptor);
  for (const std::string& name : {std::string(location.path.data()), through_owner}) {
    struct stat status{};
    if (::stat(name.c_str(), &status) != 0 || to_identity(status) != location.identity) continue;
    store::posix::Descriptor file(::open(name.c_str(), flags | O_CLOEXEC));
    if (file.number() >= 0 && ::fstat(file.number(), &status) == 0 && to_identity(status) == location.identity)
      return file;
  }
  base::throw_system_error(EACCES, "cannot open ", where, " in another process of its host");
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

LocalFile::LocalFile(const std::string& path, DistantMode mode, int rank, bool create, bool named)
    : path_(std::filesystem::absolute(path).string()),
      where_(describe_file(path_, rank)),
      rank_(rank),
      writable_(mode != DistantMode::kRead),
      named_(named),
      file_(store::posix::open_file(path_, open_flags(mode, create), 0666, where_)) {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  if (!S_ISREG(status.st_mode))
    base::throw_system_error(EINVAL, where_, " is not an ordinary file; name one, or a new one");
}

LocalFile::LocalFile(const FileLocation& location, int rank, OpenMark mark)
    : path_(location.path.data()),
      where_(describe_file(path_, rank)),
      rank_(rank),
      mark_(mark),
      writable_(location.writable),
      named_(location.named),
      file_(open_located(location, where_)) {}

void throw_no_file(int rank) {
  base::throw_system_error(EBADF, "rank ", rank, " (host ", host_name(),
                           ") has no file under this handle: it registered none, or has closed it");
}

FileIdentity LocalFile::identity() const {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  return to_identity(status);
}

FileLocation LocalFile::location() const {
  FileLocation result;
  // The path must fit, even if it is not used to open the file, because errors name it.
  if (path_.size() < result.path.size()) path_.copy(result.path.data(), path_.size());
  result.process = ::getpid();
  result.descriptor = file_.number();
  result.identity = identity();
  result.writable = writable_;
  result.named = named_;
  return result;
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
    check_owner();
    const std::size_t part = std::min(into.size() - done, kUncheckedBytes);
    const ssize_t got = ::pread(file_.number(), into.data() + done, part, offset + static_cast<std::int64_t>(done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      fail(base::text("read ", into.size(), " bytes at offset ", offset, " of"), errno);
    }
  }
  check_owner();  // else the bytes may be those of another file, which has truncated this one
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
  if (!has_owner()) return false;
  iovec target{into.data(), into.size()};
  const ssize_t got = ::preadv2(file_.number(), &target, 1, offset, RWF_NOWAIT);
  return got == static_cast<ssize_t>(into.size()) && has_owner();
}

void LocalFile::write(std::int64_t offset, std::span<const std::byte> from) const {
  check_owner();
  check_writable();
  for (std::size_t done = 0; done < from.size(); done += kUncheckedBytes) {
    check_owner();
    const auto part = from.subspan(done, std::min(from.size() - done, kUncheckedBytes));
    if (const int code = base::write_all(file_.number(), part, offset + static_cast<std::int64_t>(done)); code != 0)
      fail(base::text("write ", from.size(), " bytes at offset ", offset, " of"), code);
  }
}

void LocalFile::sync() const {
  check_owner();
  struct stat status{};
  if (::fdatasync(file_.number()) != 0) fail("sync", errno);
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  if (named_ && status.st_nlink == 0)
    base::throw_system_error(ENOENT, "cannot sync ", where_, ": the file has been removed");
}

std::int64_t LocalFile::size() const {
  check_owner();
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail("look at", errno);
  return status.st_size;
}

void LocalFile::resize(std::int64_t bytes) const {
  check_owner();
  check_writable();
  while (::ftruncate(file_.number(), bytes) != 0)
    if (errno != EINTR) fail(base::text("give ", bytes, " bytes to"), errno);
}

void LocalFile::reserve(std::int64_t bytes) const {
  check_owner();
  check_writable();
  store::posix::reserve(file_.number(), bytes, where_);
}

void LocalFile::remove() const {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("remove", errno);
}

}  // namespace plait::distant
