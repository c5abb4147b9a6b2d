#include "store/posix/identity.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <istream>

#include "base/errors.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

namespace {

template <typename Time>
std::int64_t nanoseconds(const Time& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::int64_t>(time.tv_nsec);
}

/// Returns true for file systems in user space (FUSE). They may assign inode numbers on access, so that a file may get
/// another number later.
bool has_unstable_inode_numbers(int file) {
  struct statfs info{};
  return ::fstatfs(file, &info) == 0 && static_cast<std::uint32_t>(info.f_type) == FUSE_SUPER_MAGIC;
}

/// Returns the status of a file on systems that do not permit statx(), such as old containers. It has no creation time.
FileStatus read_plain_status(int file, const std::string& display_name) {
  struct stat found{};
  if (::fstat(file, &found) != 0) throw system_error("inspect " + display_name, errno);
  return {{has_unstable_inode_numbers(file) ? 0 : found.st_ino, /*born=*/0, found.st_size, nanoseconds(found.st_mtim)},
          found.st_mode};
}

}  // namespace

FileStatus read_file_status(int file, const std::string& display_name) {
  // Use one call: if other programs write to the file, its size and times must be from the same moment.
  struct statx found{};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &found) != 0)
    return read_plain_status(file, display_name);
  const std::int64_t born = (found.stx_mask & STATX_BTIME) != 0 ? nanoseconds(found.stx_btime) : 0;
  return {{has_unstable_inode_numbers(file) ? 0 : found.stx_ino, born, static_cast<std::int64_t>(found.stx_size),
           nanoseconds(found.stx_mtime)},
          found.stx_mode};
}

Identity read_identity(int file, const std::string& display_name) {
  return read_file_status(file, display_name).identity;
}

void check_not_replaced(int file, const Identity& expected, const std::string& display_name) {
  if (!same_file(read_identity(file, display_name), expected))
    base::throw_system_error(ESTALE, display_name, " has been replaced while it was opened; open it again");
}

}  // namespace plait::store::posix
