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

/// Returns true for file systems in user space, which may number files in the order in which they find them.
bool numbers_by_itself(int file) {
  struct statfs found{};
  return ::fstatfs(file, &found) == 0 && static_cast<std::uint32_t>(found.f_type) == FUSE_SUPER_MAGIC;
}

std::int64_t read_birth_time(int file) {
  struct statx found{};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0 || (found.stx_mask & STATX_BTIME) == 0) return 0;
  return nanoseconds(found.stx_btime);
}

}  // namespace

Identity read_identity(int file, const std::string& shown) {
  struct stat found{};
  if (::fstat(file, &found) != 0) throw system_error("look at " + shown, errno);
  return {numbers_by_itself(file) ? 0 : found.st_ino, read_birth_time(file), found.st_size, nanoseconds(found.st_mtim)};
}

void check_not_replaced(int file, const Identity& expected, const std::string& shown) {
  if (!same_file(read_identity(file, shown), expected))
    base::throw_system_error(ESTALE, shown, " has been replaced while it was opened; open it again");
}

}  // namespace plait::store::posix
