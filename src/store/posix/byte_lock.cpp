#include "store/posix/byte_lock.hpp"

#include <fcntl.h>

#include <cerrno>

namespace plait::store::posix {

namespace {

/// 0, or the error number.
int set_lock(int file, std::int64_t number, short type, int command) noexcept {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedBytes + number % kLockedBytes;
  lock.l_len = 1;
  while (::fcntl(file, command, &lock) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

bool lock_byte(int file, std::int64_t number, Wait wait) {
  const int error = set_lock(file, number, F_WRLCK, wait == Wait::kYes ? F_OFD_SETLKW : F_OFD_SETLK);
  return error != EAGAIN && error != EACCES;
}

void unlock_byte(int file, std::int64_t number) noexcept { (void)set_lock(file, number, F_UNLCK, F_OFD_SETLK); }

}  // namespace plait::store::posix
